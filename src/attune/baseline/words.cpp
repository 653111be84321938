#include "attune/baseline/words.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace attune {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_word_character(UChar32 c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return (U_GET_GC_MASK(c) & U_GC_L_MASK) != 0 || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

std::string lowered(std::string_view text) {
  if (is_ascii(text)) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }
  std::string out;
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())))
      .toLower(icu::Locale::getRoot())
      .toUTF8String(out);
  return out;
}

}  // namespace

std::vector<std::string> lower_case_words(std::string_view text) {
  std::string low = lowered(text);
  std::vector<std::string> words;
  const auto length = static_cast<std::int32_t>(low.size());
  std::int32_t begin = 0, characters = 0;
  for (std::int32_t i = 0; i <= length;) {
    std::int32_t at = i;
    UChar32 c = ' ';
    if (i < length)
      U8_NEXT_OR_FFFD(low.data(), i, length, c);
    else
      ++i;
    if (is_word_character(c)) {
      if (characters++ == 0) begin = at;
    } else {
      if (characters >= 2)
        words.push_back(low.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(at - begin)));
      characters = 0;
    }
  }
  return words;
}

}  // namespace attune
