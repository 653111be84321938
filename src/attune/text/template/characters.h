#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What Python's str knows of characters and texts. All texts are valid UTF-8; places in them are bytes unless said
/// otherwise.
namespace attune::jinja {

bool is_printable(char32_t point);   // str.isprintable
bool is_space(char32_t point);       // str.isspace, and \s of its regular expressions
bool is_alphabetic(char32_t point);  // str.isalpha
bool is_decimal(char32_t point);     // str.isdecimal
bool is_digit(char32_t point);       // str.isdigit: superscripts, too
bool is_numeric(char32_t point);     // str.isnumeric: fractions, too
bool is_word(char32_t point);        // \w of its regular expressions
bool is_cased(char32_t point);
bool is_lower(char32_t point);
bool is_upper(char32_t point);
bool is_title(char32_t point);
bool begins_identifier(char32_t point);
bool continues_identifier(char32_t point);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string fold(std::string_view text);        // str.casefold
std::string title_case(std::string_view text);  // str.title: each word, which begins after an uncased character
std::string capitalize(std::string_view text);  // str.capitalize: the first character alone
std::string swap_case(std::string_view text);

enum class Ends { left, right, both };
/// Without the characters at its ends that stand in `characters`; null: without white space.
std::string_view strip(std::string_view text, Ends ends, const std::string_view* characters = nullptr);

/// As str.splitlines: \n, \r\n, \v, \x85, U+2028 and others end a line.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);
/// The parts between runs of white space: at most `most` splits (below 0: all), from either end.
std::vector<std::string_view> split_words(std::string_view text, long most, bool from_right);
std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, long most, bool from_right);

/// Code points first, first + step, ... of which there are `count`.
struct Range {
  long first = 0, step = 1, count = 0;
};
std::string pick(std::string_view text, const Range& range);

/// Byte at which code point `number` begins; the end where there are fewer.
std::size_t byte_of_point(std::string_view text, std::size_t number);

}  // namespace attune::jinja
