#pragma once

#include <cstdint>
#include <vector>

#include "attune/explain/probes.h"

namespace attune::explain {

/// One window over a text: the model reads tokens `begin` to before `end`, and is asked for the last `asked` of them.
struct ReadWindow {
  std::int64_t text = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t fresh = 0;  // tokens that no window before it had read
  std::int64_t asked = 0;  // as many, unless nothing stands before the first of them
  double loss = 0;         // mean -log p of those
};

struct SlidingPerplexity {
  std::vector<ReadWindow> windows;
  std::int64_t tokens = 0;       // that the model was asked for: each but a text's first, once
  evaluate::Interval loss = {};  // mean -log p over the tokens; the interval over windows

  double perplexity() const;
  /// What the recipe of Hugging Face's documentation prints ("Perplexity of fixed-length models"): the same losses,
  /// where a window counts for one token less than was asked of it.
  double recipe_perplexity() const;
};

/// Perplexity of texts longer than a causal model takes: windows of `length` tokens, each `stride` further than the
/// one before, in which the model is asked only for the tokens that no window before it asked for. The smaller the
/// stride, the more it sees before each token and the longer it takes. `texts`: tokens of each. Throws Error where the
/// model is not causal, length is below 2 or more than it takes, stride is not 1 to length, or no text has two tokens.
SlidingPerplexity sliding_perplexity(const Probed& probed, const std::vector<std::vector<std::int64_t>>& texts,
                                     std::int64_t length, std::int64_t stride, const Run& run = {});

}  // namespace attune::explain
