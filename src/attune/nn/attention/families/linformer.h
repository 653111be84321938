#pragma once

#include "attune/nn/attention/multi_head.h"

namespace attune {

/// Wang et al. 2020, "Linformer: self-attention with linear complexity", equation 7: keys and values of a sequence are
/// projected along its length, from n tokens to `rank` rows, and attended to as if they were tokens:
///   softmax(scale Q (E K)^T) (F V), with E, F of [rank, longest], the same for all heads.
/// Time and memory are linear in n. A sequence shorter than `longest` uses the first n columns: the others would meet
/// the zeros of padding.
struct LinformerRule {
  Tensor keys, values;               // E and F
  std::optional<double> scale = {};  // 1 / sqrt(head_dim) where not given
};

/// q: [tokens, heads, head_dim]; k, v: [tokens, kv_heads, head_dim]. Returns [tokens, heads, head_dim]. Throws Error
/// where a sequence is longer than the projections.
Tensor linformer_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                           const LinformerRule& rule);

}  // namespace attune
