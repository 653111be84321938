#include "attune/text/utf8.h"

#include <simdjson.h>

#include <cstring>

#include "attune/base/error.h"

namespace attune {

namespace {

/// Bytes of the valid sequence at `position`, or 0. `bad` is then the length of the maximal invalid part (at least 1).
std::size_t sequence_length(std::string_view text, std::size_t position, std::size_t& bad) {
  const auto at = [&](std::size_t i) -> unsigned {
    return position + i < text.size() ? static_cast<unsigned char>(text[position + i]) : 0;
  };
  const unsigned lead = at(0);
  bad = 1;
  if (lead < 0x80) return 1;
  std::size_t length;
  unsigned low = 0x80, high = 0xBF;  // limits of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (at(1) < low || at(1) > high) return 0;
  for (bad = 2; bad < length; ++bad)
    if ((at(bad) & 0xC0) != 0x80) return 0;
  return length;
}

}  // namespace

bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) return false;
  }
  for (; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  return true;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::nullopt;
  for (std::size_t position = 0, bad; position < text.size();) {
    const std::size_t length = sequence_length(text, position, bad);
    if (length == 0) return position;
    position += length;
  }
  return std::nullopt;
}

void check_utf8(std::string_view text, std::string_view what) {
  if (const auto at = find_invalid_utf8(text))
    fail("{}: byte {} (0x{:02X}) is not valid UTF-8; convert the text to UTF-8 first", what, *at,
         static_cast<unsigned char>(text[*at]));
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::size_t position = 0, bad;
  while (position < text.size()) {
    const std::size_t length = sequence_length(text, position, bad);
    if (length > 0) {
      result.append(text.substr(position, length));
      position += length;
    } else {
      result.append("\xEF\xBF\xBD");
      position += bad;
    }
  }
  return result;
}

std::size_t complete_utf8_length(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const char byte = text[text.size() - back];
    if (is_utf8_continuation(byte)) continue;
    const auto lead = static_cast<unsigned char>(byte);
    return lead >= 0xC2 && lead <= 0xF4 && utf8_length(byte) > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (char byte : text) count += !is_utf8_continuation(byte);
  return count;
}

std::string_view code_point_range(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t byte = 0, first = text.size();
  for (std::size_t point = 0; point < end && byte < text.size(); ++point) {
    if (point == begin) first = byte;
    byte += utf8_length(text[byte]);
  }
  return first < byte ? text.substr(first, byte - first) : std::string_view();
}

void append_utf8(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

}  // namespace attune
