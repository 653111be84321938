#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

struct RougeOptions {
  bool stem = false;  // words of four letters or more are reduced to their stems (evaluate/porter_stemmer.h)
};

/// Runs of ASCII letters and digits in lower case: everything else divides words, as in rouge-score.
std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options = {});

/// ROUGE (Lin 2004) with the numbers of rouge-score 0.1.2, 0 to 1, means over the items: "rouge1" and "rouge2" of
/// n-grams, "rougeL" of the longest common subsequence, "rougeLsum" of those of lines, each line of the reference with
/// all of the prediction. A figure by that name is the F-score; "rouge1.precision" and "rouge1.recall" stand behind
/// them. Of several references that with the highest F-score counts. Throws Error where an item has no reference.
SummedMetric rouge(std::span<const TextAndReferences> items, const RougeOptions& options = {});

}  // namespace attune::evaluate
