#include "attune/evaluate/words.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/stringpiece.h>

#include "attune/base/error.h"
#include "attune/text/unicode.h"
#include "attune/text/utf8.h"

namespace attune::evaluate {

bool is_space(char32_t point) { return (point >= 0x1C && point <= 0x1F) || is_white_space(point); }

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t here = at;
    const bool end = at == text.size();
    if (!end && !is_space(next_code_point(text, at))) continue;
    if (here > begin) words.push_back(text.substr(begin, here - begin));
    begin = at;
    if (end) break;
  }
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string_view::npos; begin = at + 1)
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view strip_end(std::string_view text) {
  std::size_t end = text.size();
  for (std::size_t at = end; at > 0 && is_space(previous_code_point(text, at)); end = at) {
  }
  return text.substr(0, end);
}

std::string_view strip_ends(std::string_view text) {
  text = strip_end(text);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size() && is_space(next_code_point(text, at)); begin = at) {
  }
  return text.substr(begin);
}

std::string lower_case(std::string_view text) {
  std::string lower;
  icu::StringByteSink<std::string> sink(&lower);
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr,
                            status);
  check(U_SUCCESS(status) != 0, "lower case of a text of {} bytes: ICU says {}", text.size(), u_errorName(status));
  return lower;
}

std::u32string code_points_of(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_code_point(text, at));
  return points;
}

bool is_ascii_punctuation(char32_t point) {
  return (point >= '!' && point <= '/') || (point >= ':' && point <= '@') || (point >= '[' && point <= '`') ||
         (point >= '{' && point <= '~');
}

}  // namespace attune::evaluate
