#include "attune/report/text.h"

#include <fmt/core.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cctype>

namespace attune::report {

namespace {

constexpr UChar32 replacement = 0xFFFD;

/// The next code point of `text` from `at`, which moves behind it; U+FFFD for a byte that begins none.
UChar32 next_code_point(std::string_view text, std::int32_t& at) {
  UChar32 c = 0;
  U8_NEXT(reinterpret_cast<const std::uint8_t*>(text.data()), at, static_cast<std::int32_t>(text.size()), c);
  return c < 0 ? replacement : c;
}

void append(std::string& out, UChar32 c) {
  std::uint8_t bytes[4];
  std::int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

/// XML 1.0, production 2.
bool allowed_in_xml(UChar32 c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return c != 0x7F && c != 0xFFFE && c != 0xFFFF && !(c >= 0x80 && c < 0xA0 && c != 0x85);
}

int columns(UChar32 c) {
  if (c == 0 || c < 0x20 || (c >= 0x7F && c < 0xA0)) return 0;
  const auto category = u_charType(c);
  if (category == U_NON_SPACING_MARK || category == U_ENCLOSING_MARK || category == U_FORMAT_CHAR) return 0;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(text.size());) {
    const UChar32 c = next_code_point(text, at);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        append(out, allowed_in_xml(c) ? c : replacement);
    }
  }
  return out;
}

std::int64_t display_width(std::string_view text) {
  std::int64_t width = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(text.size());) width += columns(next_code_point(text, at));
  return width;
}

std::string shortened(std::string_view text, std::int64_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  std::int64_t used = 0;
  std::int32_t at = 0;
  while (true) {
    std::int32_t behind = at;
    used += columns(next_code_point(text, behind));
    if (used > width - 1) return std::string(text.substr(0, static_cast<std::size_t>(at))) + "…";
    at = behind;
  }
}

std::string on_one_line(std::string_view text) {
  static constexpr std::string_view controls = "\b\t\n\f\r", letters = "btnfr";
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (auto at = controls.find(c); at != std::string_view::npos)
      out += {'\\', letters[at]};
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out;
}

std::string anchor_name(std::string_view title) {
  std::string name;
  for (const char letter : title) {
    const auto c = static_cast<unsigned char>(letter);
    if (c < 0x80 && std::isalnum(c))
      name += static_cast<char>(std::tolower(c));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "section" : name;
}

}  // namespace attune::report
