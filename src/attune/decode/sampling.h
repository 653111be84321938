#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attune/base/random.h"

namespace attune {

/// How the next token is drawn from the logits, in transformers' order, which is that of the members: each narrows what
/// the one before left.
struct Sampling {
  double temperature = 0;  // logits are divided by it; 0: always the most probable token
  std::int64_t top_k = 0;  // only the k most probable, and what is as probable as the last of them; 0: all
  double top_p = 1;        // only the fewest whose probabilities reach p (Holtzman et al. 2020, section 3.1)
  double min_p = 0;        // only those at least p times as probable as the most probable (Nguyen et al. 2024)
  /// Only the fewest that reach p among those whose surprise is nearest to the expected one (Meister et al. 2023,
  /// "Locally typical sampling").
  double typical_p = 1;
};

/// Throws Error that names the setting and its range.
void check_sampling(const Sampling& sampling);

struct TokenProbability {
  std::int64_t token;
  double probability;  // not yet divided by their sum
};

/// The tokens that can be drawn, with what their probabilities are in proportion to. Throws Error where a logit is not
/// a number or no token is possible. For a temperature above 0.
std::vector<TokenProbability> drawn_from(std::span<const float> logits, const Sampling& sampling);

/// The next token of one sequence; without sampling, of equal logits the lower id. The random number is the key's
/// alone: a function of seed, step and sequence, never of the batch. Throws Error as drawn_from() does.
std::int64_t choose_token(std::span<const float> logits, const Sampling& sampling, const RandomKey& key);

}  // namespace attune
