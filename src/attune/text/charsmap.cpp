#include "attune/text/charsmap.h"

#include <array>

#include "attune/base/error.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// A unit of Darts-clone: bits 0-7 the label and bit 31 set in a leaf, bit 8 "a key ends here", bits 10-30 the offset to
// the children, in steps of 256 where bit 9 is set. A leaf holds its value in bits 0-30.
bool ends_key(std::uint32_t unit) { return unit >> 8 & 1; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

Charsmap Charsmap::read(std::string_view bytes) {
  check(bytes.size() > 4, "the character map has {} bytes: too few for its size", bytes.size());
  const std::uint32_t size = little_endian(bytes, 0);
  check(size <= bytes.size() - 4 && size >= 4, "the character map says that its table has {} bytes, of {} that follow",
        size, bytes.size() - 4);
  Charsmap result;
  for (std::size_t at = 4; at + 4 <= 4 + size / 4 * 4; at += 4) result.units_.push_back(little_endian(bytes, at));
  result.replacements_ = bytes.substr(4 + size / 4 * 4);
  check_utf8(result.replacements_, "the character map's replacements");
  return result;
}

std::uint32_t Charsmap::unit(std::size_t at) const {
  check(at < units_.size(), "the character map is damaged: it points to unit {} of {}", at, units_.size());
  return units_[at];
}

bool Charsmap::begins(char byte) const {
  const auto label = static_cast<unsigned char>(byte);
  const std::size_t at = offset_of(unit(0)) ^ label;
  return label != 0 && at < units_.size() && label_of(units_[at]) == label;
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool longest) const {
  std::optional<std::pair<std::size_t, std::uint32_t>> found;
  std::size_t at = offset_of(unit(0));
  for (std::size_t i = 0; i < text.size() && text[i] != 0; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    const std::uint32_t here = unit(at);
    if (label_of(here) != byte) break;
    at ^= offset_of(here);
    if (!ends_key(here)) continue;
    found = {i + 1, value_of(unit(at))};
    if (!longest) break;
  }
  if (!found) return std::nullopt;
  const auto& [length, begin] = *found;
  check(begin <= replacements_.size(), "the character map is damaged: a replacement begins at byte {} of {}", begin,
        replacements_.size());
  check(begin == replacements_.size() || !is_utf8_continuation(replacements_[begin]),
        "the character map is damaged: a replacement begins inside a character");
  check(length == text.size() || !is_utf8_continuation(text[length]),
        "the character map is damaged: a key ends inside a character");
  const std::string_view rest = std::string_view(replacements_).substr(begin);
  return Match{length, rest.substr(0, rest.find('\0'))};
}

std::string decode_base64(std::string_view text) {
  static constexpr auto values = [] {
    std::array<std::int8_t, 256> table{};
    for (std::size_t i = 0; i < 256; ++i) table[i] = -1;
    for (std::size_t i = 0; i < digits.size(); ++i)
      table[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  check(text.size() % 4 == 0, "base64 of {} characters: expected a multiple of 4", text.size());
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i + padding >= text.size();
    const std::int8_t value = pad ? std::int8_t{0} : values[static_cast<unsigned char>(text[i])];
    check(value >= 0, "base64: character {} is not a digit of it", i);
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 == 3)
      for (int shift = 16; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(group >> shift & 0xFF));
  }
  for (std::size_t i = 0; i < padding; ++i) {
    check(bytes.back() == 0, "base64: the last digit has bits behind the last byte");
    bytes.pop_back();
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text.push_back(i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=');
  }
  return text;
}

}  // namespace attune
