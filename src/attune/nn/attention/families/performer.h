#pragma once

#include "attune/base/random.h"
#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Random directions for Performer's features.
struct ProjectionShape {
  std::int64_t features = 0, width = 0;
  /// Rows come in groups of `width` at right angles, each as long as a normal vector would be (Choromanski et al. 2021,
  /// section 2.4, "orthogonal random features"); otherwise all are independent normal vectors.
  bool orthogonal = true;
};

/// [features, width], f64: the same for the same key.
Tensor performer_projection(const ProjectionShape& shape, const RandomKey& key);

/// What performer_attention() approximates softmax attention by.
struct PerformerRule {
  Tensor projection;  // [features, head_dim], of q's type
  double scale = 1;   // of the scores
  bool causal = true;
};

/// y_i = sum over j of f(q_i) . f(k_j) v_j / sum over j of f(q_i) . f(k_j), where the expectation of f(q) . f(k) is
/// exp(scale q . k) (Choromanski et al. 2021, lemma 1 and equation 4). A query's features are scaled so that they sum
/// to 1, which the quotient takes out again: no query's exponentials leave the range. Keys with |k|^2 scale beyond some
/// 250 weigh nothing in f32. Shapes as attention()'s. Gradients of q, k and v.
Tensor performer_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& tokens,
                           const PerformerRule& rule);

}  // namespace attune
