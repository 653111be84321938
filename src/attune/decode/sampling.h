#pragma once

#include <cstdint>
#include <span>

#include "attune/base/random.h"

namespace attune {

/// How the next token is chosen from the logits, in transformers' order: temperature, then top_k, then top_p.
struct Sampling {
  double temperature = 0;  // logits are divided by it; 0: always the most probable token
  std::int64_t top_k = 0;  // only the k most probable; 0: all
  double top_p = 1;        // only the fewest whose probabilities reach p (Holtzman et al. 2020, section 3.1)
};

/// Throws Error that names the setting and its range.
void check_sampling(const Sampling& sampling);

/// The next token of one sequence. The random number is the key's alone: a function of seed, step and sequence, never
/// of the batch. Of equal logits the lower id counts as the greater. Throws Error where a logit is not a number.
std::int64_t choose_token(std::span<const float> logits, const Sampling& sampling, const RandomKey& key);

}  // namespace attune
