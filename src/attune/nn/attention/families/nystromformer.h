#pragma once

#include "attune/nn/attention/multi_head.h"
#include "attune/ops/iterative_inverse.h"

namespace attune {

/// Xiong et al. 2021, "Nystromformer: a Nystrom-based algorithm for approximating self-attention", equation 13, as on
/// Hugging Face (NystromformerSelfAttention; InverseGuess::together is the first guess that it makes). With landmarks
/// q~, k~, the means of segments of a sequence's queries and keys:
///   softmax(scale Q k~^T) pinv(softmax(scale q~ k~^T)) softmax(scale q~ K^T) V,
/// and, where there are filters, a convolution of V along the sequence added. The outer factors are attention(), so
/// memory is linear in length. A sequence of no more tokens than landmarks has exact attention. Segments are equal
/// where `landmarks` divides the length, else some have one token more.
struct NystromRule {
  std::int64_t landmarks = 64;
  int inverse_steps = 6;
  Tensor filters = {};                      // [heads, width]; not defined: no convolution
  std::optional<double> scale = {};         // 1 / sqrt(head_dim) where not given
  InverseGuess guess = InverseGuess::each;  // of a sequence's heads
};

/// q, k, v: [tokens, heads, head_dim]. Returns the same shape.
Tensor nystrom_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                         const NystromRule& rule);

}  // namespace attune
