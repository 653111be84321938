#pragma once

#include "attune/nn/parameters.h"
#include "attune/ops/attention_scores.h"

namespace attune {

/// Relative keys (Shaw et al. 2018, equation 4): a key at distance d from the query is k + r_d, with a vector learned
/// for each distance from -clip to clip, shared by the heads of a block. The parameter "weight" of w, [2 clip + 1,
/// head_dim]. The paper's relative values are left out, as in its own translation models' ablation (table 3: no
/// better).
ScoreChanges shaw_positions(const Weights& w, std::int64_t clip, std::int64_t head_dim, double deviation = 0.02);

}  // namespace attune
