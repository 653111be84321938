#pragma once

#include <string>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

struct ChrfOptions {
  int character_order = 6;
  int word_order = 0;  // 2: chrF++
  double beta = 2;     // recall counts so many times as much as precision
  bool lower_case = false;
  bool keep_spaces = false;  // in the n-grams of characters
};

/// F-score of n-grams of characters, and of words (Popovic 2015, "chrF"; 2017, "chrF++"), 0 to 100, with the numbers of
/// sacreBLEU 2: precision and recall are means over the orders that both texts are long enough for. Of several
/// references that with the highest score counts. Figures "chrf" ("chrf++" with words). Throws Error on an order below
/// 0 or above 100 (of characters below 1), a beta that is not above 0, or an item without a reference.
SummedMetric chrf(std::span<const TextAndReferences> items, const ChrfOptions& options = {});

/// In sacreBLEU's form: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no".
std::string chrf_signature(std::span<const TextAndReferences> items, const ChrfOptions& options = {});

}  // namespace attune::evaluate
