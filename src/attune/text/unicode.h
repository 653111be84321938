#pragma once

#include <string>
#include <string_view>

namespace attune {

/// Unicode properties (ICU), and the older versions of them that published tokenizers were made with.
///
/// Hugging Face's tokenizers classify with three tables of different age: general categories as of Unicode 8,
/// decompositions and combining classes as of Unicode 9, and white space, letters, numbers and case as of their newest.
/// A character that is newer than a table is unassigned in it. The functions below say which one they follow; with the
/// same input they give the same answer.

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The text in a normal form, by the tables of Unicode 9. Text must be valid UTF-8.
std::string to_normal_form(std::string_view text, NormalForm form);
/// Full lower-case mapping of each code point by itself (no final-sigma rule).
std::string to_lower_case(std::string_view text);
/// NFD without nonspacing marks: "é" gives "e". As BertNormalizer's strip_accents.
std::string strip_accents(std::string_view text);

bool is_white_space(char32_t point);     // property White_Space
bool is_letter(char32_t point);          // category L
bool is_number(char32_t point);          // category N
bool is_word_character(char32_t point);  // \w of UTS #18: Alphabetic, M, Nd, Pc, Join_Control

bool is_old_control(char32_t point);  // Cc, Cf, Co as of Unicode 8: what BertNormalizer drops, with \t \n \r among them
bool is_old_punctuation(char32_t point);  // P as of Unicode 8, or ASCII punctuation: what splits in BertPreTokenizer
bool is_old_nonspacing_mark(char32_t point);  // Mn as of Unicode 8
bool is_old_mark(char32_t point);             // M as of Unicode 9: what StripAccents drops

/// Script as of Unicode 9 for UnicodeScripts: a number that is equal for equal scripts; 0 for characters that have none
/// and for the space. Hiragana, Katakana and U+30FC count as Han.
int old_script(char32_t point);

/// Ideographs of the blocks that BERT surrounds with spaces.
bool is_cjk_ideograph(char32_t point);

/// Canonical combining class as of Unicode 9.
int combining_class(char32_t point);

/// At most 18 code points that a code point maps to.
struct Mapping {
  char32_t points[18];
  int size = 0;
};
/// Full decomposition as of Unicode 9; the point itself where it has none.
Mapping decomposition(char32_t point, bool compatible);
Mapping lower_case(char32_t point);
/// The primary composite of a pair as of Unicode 9, or 0.
char32_t composition(char32_t first, char32_t second);

}  // namespace attune
