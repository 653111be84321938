#pragma once

#include <string>
#include <vector>

#include "attune/evaluate/bootstrap.h"

namespace attune::evaluate {

/// How varied texts are, of n-grams of words (what stands between spaces).
struct DiversityOfOrder {
  int order = 1;
  double distinct = 0;       // distinct-n: different n-grams over all n-grams, of all texts together (Li et al. 2016)
  Interval repetition = {};  // share of a text's n-grams that stood in it before, mean over the texts (seq-rep-n:
                             // Welleck et al. 2020, section 6.1); texts without an n-gram are left out
  std::int64_t texts = 0;    // that have one
};

/// Orders 1 to 4. No interval of distinct-n: a text that is drawn twice would make it smaller. Throws Error without a
/// text.
std::vector<DiversityOfOrder> diversity(std::span<const std::string> texts, const BootstrapOptions& options = {});

}  // namespace attune::evaluate
