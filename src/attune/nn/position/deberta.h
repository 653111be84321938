#pragma once

#include <functional>
#include <optional>

#include "attune/nn/linear.h"
#include "attune/ops/attention_scores.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

/// Disentangled attention (He et al. 2021, "DeBERTa", section 3.1): beside the content's own score, content to position
/// q_i . K r_d and position to content k_j . Q r_d, d the bucket of i - j. A block projects the table that all share by
/// `key` and `query`, its own matrices for positions or those of its content; one that is not there leaves its part
/// out.
struct DisentangledPositions {
  std::function<Tensor()> table;  // [2 span, hidden], taken anew at each use: it is trained, and may be normalised
  std::optional<Linear> key, query;
  std::int64_t heads = 1;
  DebertaBuckets buckets;

  int parts() const { return (key ? 1 : 0) + (query ? 1 : 0); }
};

/// The two parts, for the scale that deberta_scale() gives. p2c needs as many key heads as query heads.
ScoreChanges disentangled_scores(const DisentangledPositions& positions);

/// 1 / sqrt(head_dim (1 + parts)) (equation 4).
double deberta_scale(std::int64_t head_dim, int parts);

}  // namespace attune
