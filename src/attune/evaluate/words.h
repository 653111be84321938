#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune::evaluate {

/// Texts as Python's str sees them: the reference programs of text metrics are built on its methods, and a character
/// that counts as a space there and not here would be another score. Text is valid UTF-8.

/// str.isspace() of one code point: Unicode's white space, and U+001C to U+001F.
bool is_space(char32_t point);

/// str.split(): what stands between runs of spaces.
std::vector<std::string_view> split_words(std::string_view text);
/// str.split(separator): the parts, empty ones, too. The separator is one byte.
std::vector<std::string_view> split_at(std::string_view text, char separator);
/// str.rstrip() and str.strip().
std::string_view strip_end(std::string_view text);
std::string_view strip_ends(std::string_view text);

/// str.lower(): Unicode's full mapping with its rule for a final sigma.
std::string lower_case(std::string_view text);

/// Each code point.
std::u32string code_points_of(std::string_view text);

/// string.punctuation: ASCII's 32.
bool is_ascii_punctuation(char32_t point);

}  // namespace attune::evaluate
