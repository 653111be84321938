#pragma once

#include <string>
#include <string_view>

namespace attune::evaluate {

/// The stem of a word of lower-case ASCII letters (and digits, which count as consonants): Porter 1980, "An algorithm
/// for suffix stripping", with the changes that NLTK's PorterStemmer makes to it by default, since rouge-score uses
/// that one.
std::string porter_stem(std::string_view word);

}  // namespace attune::evaluate
