#pragma once

#include <string>
#include <string_view>

#include "attune/workflows/clinical_example/grammar.h"

namespace attune::clinical {

/// How a writer writes, beyond what is said.
struct Hand {
  Dialect dialect = Dialect::british;
  int abbreviations = 0;  // of 100 words that have an abbreviation, how many are abbreviated
  int misspellings = 0;   // of 1,000 words of five or more letters, how many are misspelt
};

/// The text in that hand: words of the dialect, abbreviations, misspellings. Phrases are written in British English.
std::string in_hand(std::string_view text, const Hand& hand, RandomStream& random);

}  // namespace attune::clinical
