#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// The lower-case words of a text as scikit-learn's TfidfVectorizer finds them: str.lower(), then the pattern
/// \b\w\w+\b, which is every run of two or more word characters. A word character is a letter, a digit or other numeric
/// character, or "_" (Python's re: str.isalnum or "_"; combining marks are not among them). The text is UTF-8; bad
/// bytes count as U+FFFD.
std::vector<std::string> lower_case_words(std::string_view text);

}  // namespace attune
