#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

/// How a text becomes words: as mteval-v13a.pl does, as mteval-v14.pl does with --international-tokenization, each
/// character a word, or what stands between spaces.
enum class BleuTokenizer { mteval_13a, international, characters, none };

/// What a precision without a match becomes (Chen & Cherry 2014): halved with each such order (their method 3), a
/// constant in place of no match, a constant added to matches and totals of the orders above 1; nothing.
enum class BleuSmoothing { exponential, floor, add_k, none };

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval_13a;
  BleuSmoothing smoothing = BleuSmoothing::exponential;
  std::optional<double> smoothing_value = {};  // 0.1 for floor, 1 for add_k; no other smoothing has one
  bool lower_case = false;
  /// The mean goes over the orders that the prediction is long enough for. For single sentences: without it, one of
  /// three words scores 0.
  bool effective_order = false;
};

/// Names as sacreBLEU has them: "13a", "intl", "char", "none"; "exp", "floor", "add-k", "none". Throws Error that lists
/// them.
BleuTokenizer bleu_tokenizer(std::string_view name);
BleuSmoothing bleu_smoothing(std::string_view name);

std::vector<std::string> bleu_words(std::string_view text, BleuTokenizer tokenizer);

/// BLEU of up to four words (Papineni et al. 2002), 0 to 100, with the numbers of sacreBLEU 2 (Post 2018): figures
/// "bleu", "precision1" to "precision4", "brevity penalty", "length ratio". Throws Error on a smoothing value that its
/// method has no use for, or where an item has no reference.
SummedMetric bleu(std::span<const TextAndReferences> items, const BleuOptions& options = {});

/// What another must know to get the same number, in sacreBLEU's form: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp".
std::string bleu_signature(std::span<const TextAndReferences> items, const BleuOptions& options = {});

/// "nrefs:..." of a signature: as many as each item has, or "var".
std::string references_signature(std::span<const TextAndReferences> items);

}  // namespace attune::evaluate
