#include "attune/text/template/characters.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/stringoptions.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

constexpr UChar32 code(char32_t point) { return static_cast<UChar32>(point); }
std::uint32_t category(char32_t point) { return U_MASK(u_charType(code(point))); }
int numeric_type(char32_t point) { return u_getIntPropertyValue(code(point), UCHAR_NUMERIC_TYPE); }

bool is_ascii_letter(char32_t point) { return (point | 0x20) >= 'a' && (point | 0x20) <= 'z' && point < 0x80; }

using Mapper = void(const char*, std::uint32_t, icu::StringPiece, icu::ByteSink&, icu::Edits*, UErrorCode&);

/// ICU's full mappings in the root locale are those of SpecialCasing.txt without its languages, as Python's are.
std::string mapped(std::string_view text, Mapper* map, std::uint32_t options = 0) {
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  UErrorCode status = U_ZERO_ERROR;
  map("", options, {text.data(), static_cast<std::int32_t>(text.size())}, sink, nullptr, status);
  check(U_SUCCESS(status), "mapping case: ICU says {}", u_errorName(status));
  return result;
}

void fold_utf8(const char*, std::uint32_t options, icu::StringPiece text, icu::ByteSink& sink, icu::Edits* edits,
               UErrorCode& status) {
  icu::CaseMap::utf8Fold(options, text, sink, edits, status);
}

void title_utf8(const char* locale, std::uint32_t options, icu::StringPiece text, icu::ByteSink& sink,
                icu::Edits* edits, UErrorCode& status) {
  icu::CaseMap::utf8ToTitle(locale, options, nullptr, text, sink, edits, status);
}

/// The first character in title case: "ß" gives "Ss".
std::string title_of(std::string_view character) {
  return mapped(character, title_utf8, U_TITLECASE_WHOLE_STRING | U_TITLECASE_NO_BREAK_ADJUSTMENT);
}

bool is_line_end(char32_t point) {
  return (point >= 10 && point <= 13) || (point >= 0x1C && point <= 0x1E) || point == 0x85 || point == 0x2028 ||
         point == 0x2029;
}

bool contains(std::string_view characters, char32_t point) {
  for (std::size_t place = 0; place < characters.size();)
    if (next_code_point(characters, place) == point) return true;
  return false;
}

}  // namespace

bool is_printable(char32_t point) {
  if (point < 0x7F) return point >= ' ';
  return !(category(point) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CS_MASK | U_GC_CO_MASK | U_GC_CN_MASK | U_GC_Z_MASK));
}

bool is_space(char32_t point) {
  if (point < 0x80) return point == ' ' || (point >= 9 && point <= 13) || (point >= 0x1C && point <= 0x1F);
  return point == 0x85 || (category(point) & U_GC_Z_MASK);
}

bool is_alphabetic(char32_t point) {
  return point < 0x80 ? is_ascii_letter(point) : (category(point) & U_GC_L_MASK) != 0;
}
bool is_decimal(char32_t point) {
  return point < 0x80 ? point >= '0' && point <= '9' : numeric_type(point) == U_NT_DECIMAL;
}
bool is_digit(char32_t point) { return is_decimal(point) || (point >= 0x80 && numeric_type(point) == U_NT_DIGIT); }
bool is_numeric(char32_t point) { return point < 0x80 ? is_decimal(point) : numeric_type(point) != U_NT_NONE; }
bool is_word(char32_t point) { return point == '_' || is_alphabetic(point) || is_numeric(point); }
bool is_cased(char32_t point) {
  return point < 0x80 ? is_ascii_letter(point) : u_hasBinaryProperty(code(point), UCHAR_CASED);
}
bool is_lower(char32_t point) { return u_isULowercase(code(point)); }
bool is_upper(char32_t point) { return u_isUUppercase(code(point)); }
bool is_title(char32_t point) { return category(point) & U_GC_LT_MASK; }
bool begins_identifier(char32_t point) {
  return point < 0x80 ? is_ascii_letter(point) || point == '_' : u_hasBinaryProperty(code(point), UCHAR_XID_START);
}
bool continues_identifier(char32_t point) {
  return point < 0x80 ? is_word(point) : u_hasBinaryProperty(code(point), UCHAR_XID_CONTINUE);
}

std::string upper(std::string_view text) {
  if (!is_ascii(text)) return mapped(text, icu::CaseMap::utf8ToUpper);
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return result;
}

std::string lower(std::string_view text) {
  if (!is_ascii(text)) return mapped(text, icu::CaseMap::utf8ToLower);
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return result;
}

std::string fold(std::string_view text) { return is_ascii(text) ? lower(text) : mapped(text, fold_utf8); }

std::string title_case(std::string_view text) {
  // Lower case looks at neighbours (the final sigma), but for the first character of a word that title case replaces.
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t from = place;
    const bool begins = is_cased(next_code_point(text, place));
    const std::size_t behind_first = place;
    while (begins && place < text.size()) {
      std::size_t next = place;
      if (!is_cased(next_code_point(text, next))) break;
      place = next;
    }
    if (!begins) {
      result += text.substr(from, place - from);
      continue;
    }
    const std::string_view first = text.substr(from, behind_first - from);
    const std::string whole = lower(text.substr(from, place - from)), low = lower(first);
    result += title_of(first) + (whole.starts_with(low) ? whole.substr(low.size())
                                                        : lower(text.substr(behind_first, place - behind_first)));
  }
  return result;
}

std::string capitalize(std::string_view text) {
  if (text.empty()) return {};
  std::size_t behind_first = 0;
  next_code_point(text, behind_first);
  const std::string_view first = text.substr(0, behind_first);
  const std::string whole = lower(text), low = lower(first);
  return title_of(first) + (whole.starts_with(low) ? whole.substr(low.size()) : lower(text.substr(behind_first)));
}

std::string swap_case(std::string_view text) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t from = place;
    const char32_t point = next_code_point(text, place);
    const std::string_view one = text.substr(from, place - from);
    result += is_upper(point) ? lower(one) : is_lower(point) ? upper(one) : std::string(one);
  }
  return result;
}

std::string_view strip(std::string_view text, Ends ends, const std::string_view* characters) {
  const auto goes = [&](char32_t point) { return characters ? contains(*characters, point) : is_space(point); };
  if (ends != Ends::right) {
    std::size_t begin = 0;
    for (std::size_t place = 0; place < text.size() && goes(next_code_point(text, place)); begin = place) {
    }
    text.remove_prefix(begin);
  }
  if (ends != Ends::left) {
    std::size_t end = text.size();
    for (std::size_t place = end; place > 0 && goes(previous_code_point(text, place)); end = place) {
    }
    text = text.substr(0, end);
  }
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t end = place;
    const char32_t point = next_code_point(text, place);
    if (!is_line_end(point)) continue;
    if (point == '\r' && place < text.size() && text[place] == '\n') ++place;
    lines.push_back(text.substr(begin, (keep_ends ? place : end) - begin));
    begin = place;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> split_words(std::string_view text, long most, bool from_right) {
  std::vector<std::string_view> words;
  const Ends near = from_right ? Ends::right : Ends::left;
  for (text = strip(text, near); !text.empty(); text = strip(text, near)) {
    if (most >= 0 && static_cast<long>(words.size()) == most) {
      words.push_back(text);  // the rest as it stands, but for white space at the near end
      break;
    }
    std::size_t end = from_right ? text.size() : 0;
    for (std::size_t place = end; from_right ? place > 0 : place < text.size(); end = place)
      if (is_space(from_right ? previous_code_point(text, place) : next_code_point(text, place))) break;
    words.push_back(from_right ? text.substr(end) : text.substr(0, end));
    text = from_right ? text.substr(0, end) : text.substr(end);
  }
  if (from_right) std::reverse(words.begin(), words.end());
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, long most, bool from_right) {
  std::vector<std::string_view> parts;
  while (most < 0 || static_cast<long>(parts.size()) < most) {
    const std::size_t found = from_right ? text.rfind(separator) : text.find(separator);
    if (found == std::string_view::npos) break;
    const std::size_t behind = found + separator.size();
    parts.push_back(from_right ? text.substr(behind) : text.substr(0, found));
    text = from_right ? text.substr(0, found) : text.substr(behind);
  }
  parts.push_back(text);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::size_t byte_of_point(std::string_view text, std::size_t number) {
  std::size_t place = 0;
  while (number > 0 && place < text.size()) place += utf8_length(text[place]), --number;
  return place;
}

std::string pick(std::string_view text, const Range& range) {
  if (range.count <= 0) return {};
  if (range.step == 1) {
    const std::size_t begin = byte_of_point(text, static_cast<std::size_t>(range.first));
    const std::string_view rest = text.substr(begin);
    return std::string(rest.substr(0, byte_of_point(rest, static_cast<std::size_t>(range.count))));
  }
  std::vector<std::uint32_t> begins;
  for (std::size_t place = 0; place < text.size(); place += utf8_length(text[place]))
    begins.push_back(static_cast<std::uint32_t>(place));
  std::string result;
  for (long i = 0, at = range.first; i < range.count; ++i, at += range.step) {
    const std::size_t place = begins[static_cast<std::size_t>(at)];
    result += text.substr(place, utf8_length(text[place]));
  }
  return result;
}

}  // namespace attune::jinja
