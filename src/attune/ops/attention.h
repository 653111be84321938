#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attune/ops/attention_masks.h"
#include "attune/ops/attention_scores.h"
#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Which rows of q and of k, v belong together: sequence s has queries [queries.begin(s), queries.end(s)) and its own
/// keys.
struct AttentionSequences {
  Offsets queries;
  Offsets keys;  // as many sequences
  /// Position of each sequence's first query among its keys. Empty: the queries are aligned to the END of the keys, so
  /// that a continued sequence sees its past.
  std::vector<std::int64_t> first_positions = {};
  /// Each sequence's example id, which dropout's random numbers are keyed by; needed only where there is dropout.
  std::vector<std::int64_t> examples = {};

  /// Self-attention: every sequence attends to itself.
  static AttentionSequences of(const Offsets& offsets) { return {offsets, offsets}; }
};

/// All that changes what attention(q, k, v) computes besides its tensors: a value. `mask + scores` makes one:
///   attention(q, k, v, sequences, {.mask = causal(), .scale = 0.125});
///   attention(q, k, v, sequences, (causal() & window(4095, 0)) + soft_cap(50));
struct AttentionRule {
  AttentionMask mask = {};
  ScoreChanges scores = {};
  std::optional<double> scale = {};  // of the scores; 1 / sqrt(head_dim) where not given
  AttentionDropout dropout = {};
};

inline AttentionRule operator+(const AttentionMask& mask, const ScoreChanges& scores) {
  return {.mask = mask, .scores = scores};
}
inline AttentionRule operator+(AttentionRule rule, const ScoreChanges& scores) {
  rule.scores = rule.scores + scores;
  return rule;
}
inline AttentionRule operator&(AttentionRule rule, const AttentionMask& mask) {
  rule.mask = rule.mask & mask;
  return rule;
}

/// softmax(cap(scale q k^T) + additions, masked by the rule) v for each sequence and head (Vaswani et al. 2017,
/// equation 1), streaming: memory is linear in length, the forward pass keeps y and two numbers a row, the backward
/// pass makes the scores again. q: [q_tokens, heads, head_dim]; k: [k_tokens, kv_heads, head_dim]; v: [k_tokens,
/// kv_heads, value_dim]; f32 or f64. Query head h attends to key head h / (heads / kv_heads). Any strides between
/// tokens and heads: slices of one fused projection need no copy. Returns [q_tokens, heads, value_dim]. A query that
/// sees no key gives zeros and gives no gradient. What the rule's score changes learn gets its gradient as q, k and v
/// do. Dropout of one weight is keyed by (example, query position, head, key position). A row's bits depend on its own
/// query and the keys it sees alone. Throws Error if shapes, sequences or the rule do not fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSequences& sequences,
                 const AttentionRule& rule);

/// The weights themselves for some queries of one sequence and some heads (`heads` 0: all from first_head on), [heads,
/// queries, keys of the sequence], before dropout: rows sum to 1 (less where sinks take their share), or are 0 where a
/// query sees nothing. No gradient; attention() is not told and gives what it gives.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionSequences& sequences,
                         const AttentionRule& rule, const kernels::WeightRows& rows);

}  // namespace attune
