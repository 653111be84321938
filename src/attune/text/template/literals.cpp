#include "attune/text/template/literals.h"

#include <charconv>
#include <limits>

#include "attune/base/error.h"
#include "attune/text/template/characters.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'z' ? small - 'a' + 10 : 99;
}

/// Digits with single "_" between them, from `place` on: how many bytes they take.
std::size_t digits_size(std::string_view text, std::size_t place, int base) {
  std::size_t end = place;
  while (end < text.size()) {
    if (digit_of(text[end]) < base)
      ++end;
    else if (text[end] == '_' && end > place && text[end - 1] != '_' && end + 1 < text.size() &&
             digit_of(text[end + 1]) < base)
      ++end;
    else
      break;
  }
  return end - place;
}

std::string without_underscores(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += c;
  return digits;
}

std::optional<Integer> from_digits(std::string_view digits, int base) {
  Integer value = 0;
  for (char c : digits) {
    if (c == '_') continue;
    if (__builtin_mul_overflow(value, Integer{base}, &value) ||
        __builtin_add_overflow(value, Integer{digit_of(c)}, &value))
      return {};
  }
  return value;
}

double to_real(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc::result_out_of_range) return value;
  // Too large or too small: from_chars leaves the value as it was.
  const std::size_t e = text.find_first_of("eE");
  const bool small = e != std::string::npos && text.find('-', e) != std::string::npos;
  return small ? 0.0 : std::numeric_limits<double>::infinity();
}

/// Bytes of a float's text at the beginning: digits with a fraction, an exponent, or both; 0 where there is none.
std::size_t real_size(std::string_view text) {
  std::size_t size = digits_size(text, 0, 10);
  if (size == 0) return 0;
  bool real = false;
  if (size < text.size() && text[size] == '.') {
    const std::size_t fraction = digits_size(text, size + 1, 10);
    if (fraction > 0) size += 1 + fraction, real = true;
  }
  if (size < text.size() && (text[size] | 0x20) == 'e') {
    std::size_t begin = size + 1;
    if (begin < text.size() && (text[begin] == '+' || text[begin] == '-')) ++begin;
    const std::size_t exponent = digits_size(text, begin, 10);
    if (exponent > 0) size = begin + exponent, real = true;
  }
  return real ? size : 0;
}

void append_point(std::string& to, std::uint32_t point) {
  check(point < 0x110000, "illegal Unicode character");
  check(point < 0xD800 || point > 0xDFFF, "a lone surrogate (\\u{:04x}) is no character", point);
  append_utf8(to, static_cast<char32_t>(point));
}

}  // namespace

std::optional<NumberLiteral> number_literal(std::string_view text, bool real_allowed) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return {};
  if (const std::size_t size = real_allowed ? real_size(text) : 0)
    return NumberLiteral{.value = Value::real(to_real(without_underscores(text.substr(0, size)))), .size = size};
  NumberLiteral found;
  int base = 10;
  std::size_t begin = 0;
  if (text[0] == '0' && text.size() > 1) {
    const char mark = static_cast<char>(text[1] | 0x20);
    const int other = mark == 'b' ? 2 : mark == 'o' ? 8 : mark == 'x' ? 16 : 0;
    begin = other != 0 && text.size() > 2 && text[2] == '_' ? 3 : 2;
    if (other != 0 && digits_size(text, begin, other) > 0)
      base = other;
    else
      begin = 0;
  }
  // A decimal number has no leading zeros; zeros alone are one.
  std::size_t size = digits_size(text, begin, base == 10 && text[0] == '0' ? 1 : base);
  const std::optional<Integer> value = from_digits(text.substr(begin, size), base);
  found.size = begin + size;
  found.too_large = !value;
  found.value = Value::whole(value.value_or(0));
  return found;
}

std::string unescaped(std::string_view literal) {
  std::string to;
  for (std::size_t i = 0; i < literal.size();) {
    if (literal[i] != '\\' || i + 1 >= literal.size()) {
      to += literal[i++];
      continue;
    }
    const char c = literal[i + 1];
    const auto number = [&](std::size_t begin, std::size_t most, int base) {
      std::uint32_t point = 0;
      std::size_t count = 0;
      while (count < most && begin + count < literal.size() && digit_of(literal[begin + count]) < base)
        point =
            point * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit_of(literal[begin + count++]));
      i = begin + count;
      return std::pair(point, count);
    };
    static constexpr std::string_view simple = "\\'\"abfnrtv", meant = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t found = simple.find(c); found != std::string_view::npos) {
      to += meant[found];
      i += 2;
    } else if (c == '\n') {
      i += 2;
    } else if (c >= '0' && c <= '7') {
      append_point(to, number(i + 1, 3, 8).first);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t size = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      const auto [point, count] = number(i + 2, size, 16);
      check(count == size, "truncated \\{}{} escape", c, std::string(size, 'X'));
      append_point(to, point);
    } else if (c == 'N') {
      fail("characters by name (\\N) are not supported: write \\u and the number");
    } else {
      to += '\\';  // no escape: the backslash stays
      if (static_cast<unsigned char>(c) < 0x80) {
        to += c;
        i += 2;
      } else {  // as Jinja has it, which writes such characters as escapes first
        std::size_t place = i + 1;
        const auto point = static_cast<std::uint32_t>(next_code_point(literal, place));
        to += point < 0x100     ? fmt::format("x{:02x}", point)
              : point < 0x10000 ? fmt::format("u{:04x}", point)
                                : fmt::format("U{:08x}", point);
        i = place;
      }
    }
  }
  return to;
}

std::optional<Integer> parse_whole(std::string_view text, int base) {
  text = strip(text, Ends::both);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto marked = [&](char mark, int of) {
    const bool has = (base == 0 || base == of) && text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == mark;
    if (!has) return false;
    text.remove_prefix(text.size() > 2 && text[2] == '_' ? 3 : 2);
    base = of;
    return true;
  };
  const bool prefixed = marked('b', 2) || marked('o', 8) || marked('x', 16);
  if (base == 0) {
    if (!prefixed && text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != std::string_view::npos)
      return {};
    base = 10;
  }
  if (text.empty() || digits_size(text, 0, base) != text.size()) return {};
  const std::optional<Integer> value = from_digits(text, base);
  check(value.has_value(), "a whole number beyond 128 bits");
  return negative ? -*value : *value;
}

std::optional<double> parse_real(std::string_view text) {
  text = strip(text, Ends::both);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  const std::string word = lower(text);
  if (word == "inf" || word == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  // Beside what a literal may be: no exponent or point, a point at either end.
  std::string plain(text);
  if (const std::size_t point = plain.find('.'); point != std::string::npos) {
    const bool before = point > 0,
               behind = point + 1 < plain.size() && plain[point + 1] >= '0' && plain[point + 1] <= '9';
    if (!before && !behind) return {};
    if (!behind) plain.insert(point + 1, "0");
    if (!before) plain.insert(0, "0");
  }
  const std::size_t size = std::max(real_size(plain), digits_size(plain, 0, 10));
  if (size == 0 || size != plain.size()) return {};
  return sign * to_real(without_underscores(plain));
}

}  // namespace attune::jinja
