#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attune/base/error.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/formatting.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

/// Digits with a separator before every third (or fourth, of binary ones) from the right, and zeros to `width`.
std::string grouped(const std::string& digits, char separator, std::size_t size, std::size_t width) {
  std::string result;
  std::size_t count = 0;
  for (std::size_t i = digits.size(); i > 0 || result.size() < width; ++count) {
    if (count > 0 && count % size == 0) {
      result += separator;
      if (i == 0 && result.size() >= width) result += '0';  // never a separator in front
    }
    if (i == 0 && result.size() >= width) break;
    result += i > 0 ? digits[--i] : '0';
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::string printed(const char* format, int precision, double value) {
  const int size = std::snprintf(nullptr, 0, format, precision, value);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, precision, value);
  text.pop_back();
  return text;
}

}  // namespace

std::string sign_of(bool negative, const Layout& layout) {
  if (negative) return "-";
  return layout.sign == '-' ? "" : std::string(1, layout.sign);
}

std::string real_digits(double value, const Layout& layout) {
  const bool upper_case = layout.type == 'E' || layout.type == 'F' || layout.type == 'G';
  value = std::abs(value);
  if (std::isnan(value) || std::isinf(value)) {
    const std::string word = std::isnan(value) ? "nan" : "inf";
    return (upper_case ? upper(word) : word) + (layout.type == '%' ? "%" : "");
  }
  const int precision = layout.precision < 0 ? 6 : static_cast<int>(layout.precision);
  switch (layout.type) {
    case 'e':
      return printed(layout.alternate ? "%#.*e" : "%.*e", precision, value);
    case 'E':
      return printed(layout.alternate ? "%#.*E" : "%.*E", precision, value);
    case 'g':
      return printed(layout.alternate ? "%#.*g" : "%.*g", precision, value);
    case 'G':
      return printed(layout.alternate ? "%#.*G" : "%.*G", precision, value);
    case '%':
      return printed("%.*f", precision, value * 100) + "%";
    default:
      return printed(layout.alternate ? "%#.*f" : "%.*f", precision, value);
  }
}

std::string whole_digits(Integer value, const Layout& layout) {
  const int base = layout.type == 'b' ? 2 : layout.type == 'o' ? 8 : layout.type == 'x' || layout.type == 'X' ? 16 : 10;
  if (base == 10) {
    std::string digits = digits_of(value);
    return digits[0] == '-' ? digits.substr(1) : digits;
  }
  __extension__ typedef unsigned __int128 Magnitude;
  Magnitude left = value < 0 ? -static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  const char* alphabet = layout.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do digits += alphabet[static_cast<std::size_t>(left % static_cast<unsigned>(base))];
  while ((left /= static_cast<unsigned>(base)) != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string laid_out_number(Context& context, std::string_view sign, const std::string& digits, const Layout& layout) {
  check(layout.width <= widest, "a field of {} characters: at most {} are laid out", layout.width, widest);
  const auto width = static_cast<std::size_t>(layout.width);
  context.make(width * 4 + digits.size() * 2);
  const bool inner = layout.align == '=' || (layout.zero && layout.align == 0);
  const std::string& fill = layout.fill;
  const std::size_t whole_size = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string body = digits;
  if (layout.grouping) {
    const bool by_four = layout.type == 'b' || layout.type == 'o' || layout.type == 'x' || layout.type == 'X';
    const std::size_t beside = sign.size() + digits.size() - whole_size;
    const std::size_t least = inner && fill == "0" && width > beside ? width - beside : 0;
    body = grouped(digits.substr(0, whole_size), layout.grouping, by_four ? 4 : 3, least) + digits.substr(whole_size);
  }
  if (!inner) {
    Layout outer = layout;
    if (outer.align == 0) outer.align = '>';
    outer.precision = -1;
    return laid_out_text(context, std::string(sign) + body, outer);
  }
  std::string result(sign);
  for (std::size_t i = sign.size() + body.size(); i < width; ++i) result += fill;
  return result + body;
}

std::string laid_out_text(Context& context, std::string_view text, const Layout& layout) {
  check(layout.width <= widest, "a field of {} characters: at most {} are laid out", layout.width, widest);
  if (layout.precision >= 0) text = text.substr(0, byte_of_point(text, static_cast<std::size_t>(layout.precision)));
  const auto points = static_cast<long>(code_points(text));
  const long room = std::max(0L, layout.width - points);
  context.make(text.size() + static_cast<std::uint64_t>(room) * layout.fill.size());
  const long before = layout.align == '>' ? room : layout.align == '^' ? room / 2 : 0;
  std::string result;
  for (long i = 0; i < before; ++i) result += layout.fill;
  result += text;
  for (long i = before; i < room; ++i) result += layout.fill;
  return result;
}

std::string ascii_of(const std::string& text) {
  std::string to;
  for (std::size_t place = 0; place < text.size();) {
    const auto point = static_cast<std::uint32_t>(next_code_point(text, place));
    if (point < 0x80)
      to += static_cast<char>(point);
    else
      to += point < 0x100     ? fmt::format("\\x{:02x}", point)
            : point < 0x10000 ? fmt::format("\\u{:04x}", point)
                              : fmt::format("\\U{:08x}", point);
  }
  return to;
}

}  // namespace attune::jinja
