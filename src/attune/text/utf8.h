#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune {

/// UTF-8 as in Unicode 15, section 3.9, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF.

/// Byte position of the first byte that belongs to no valid sequence; nothing where all of `text` is valid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Throws Error "WHAT: byte P (0xHH) is not valid UTF-8" unless all of `text` is valid.
void check_utf8(std::string_view text, std::string_view what);

/// Each maximal invalid part becomes U+FFFD, as the Unicode standard (section 3.9) and WHATWG's decoder do.
std::string replace_invalid_utf8(std::string_view text);

/// Length of the longest beginning of `text` that does not end inside a character.
std::size_t complete_utf8_length(std::string_view text);

/// Number of code points of valid UTF-8.
std::size_t code_points(std::string_view text);

/// Code points [begin, end) of valid UTF-8, as far as it goes.
std::string_view code_point_range(std::string_view text, std::size_t begin, std::size_t end);

/// Bytes of the sequence that begins with `lead` (of valid UTF-8).
inline std::uint32_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline bool is_utf8_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The code point at `position` of valid UTF-8; moves `position` behind it.
inline char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto at = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[position + i])); };
  const char32_t lead = at(0);
  if (lead < 0x80) return ++position, lead;
  char32_t point;
  if (lead < 0xE0) {
    point = (lead & 0x1F) << 6 | (at(1) & 0x3F);
    position += 2;
  } else if (lead < 0xF0) {
    point = (lead & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
    position += 3;
  } else {
    point = (lead & 0x07) << 18 | (at(1) & 0x3F) << 12 | (at(2) & 0x3F) << 6 | (at(3) & 0x3F);
    position += 4;
  }
  return point;
}

/// The code point that ends before `position` > 0 of valid UTF-8; moves `position` to its first byte.
inline char32_t previous_code_point(std::string_view text, std::size_t& position) {
  do --position;
  while (is_utf8_continuation(text[position]));
  std::size_t from = position;
  return next_code_point(text, from);
}

void append_utf8(std::string& text, char32_t point);

/// True where every byte is below 0x80.
bool is_ascii(std::string_view text);

}  // namespace attune
