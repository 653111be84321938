#pragma once

#include <span>

#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// What a linear recurrence does besides adding up.
struct RecurrenceRule {
  /// log a, at most 0 to forget; -infinity forgets all. Not defined: a = 1. [kv_heads]: one for each head (Sun et al.
  /// 2023, "RetNet", equation 5). [tokens, kv_heads, head_dim]: one for each value of each token's key (Yang et al.
  /// 2024, "Gated linear attention", equation 3).
  Tensor log_decay = {};
  /// Not causal: every token reads the sum over its whole sequence; then there is no decay.
  bool causal = true;
  /// y is divided by scale q . (decayed sum of k): the weights of the values sum to 1 (Katharopoulos et al. 2020,
  /// "Transformers are RNNs", equation 9). A row whose divisor is 0 is 0 and gives no gradient.
  bool normalised = false;
  double scale = 1;
};

/// Attention without a softmax, in linear time: for each sequence and head S_t = diag(a_t) S_{t-1} + k_t v_t^T and
/// y_t = scale S_t^T q_t. q: [tokens, heads, head_dim]; k: [tokens, kv_heads, head_dim]; v: [tokens, kv_heads,
/// value_dim]; f32 or f64, any strides between tokens and heads. Query head h reads key head h / (heads / kv_heads).
/// Returns [tokens, heads, value_dim]. Gradients of q, k, v and log_decay.
///
/// On the CPU in f32: products of matrices within chunks of tokens and a state between them (the chunked form), memory
/// linear in length. With decays nothing grows: within a chunk they are differences of logarithms. On the reference in
/// f64: the sum over all pairs as the formula reads (the parallel form). A sequence has the same bits alone, in a batch
/// and on any number of threads. Throws Error where shapes or types do not fit.
Tensor linear_recurrence(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& sequences,
                         const RecurrenceRule& rule);

/// S of a sequence before its first token: zeros, [kv_heads, head_dim, value_dim], with one more value_dim for the
/// divisor where the rule is normalised. Its size does not depend on length.
Tensor recurrent_state(const Tensor& k, const Tensor& v, const RecurrenceRule& rule);

/// The recurrent form: goes on from states[i], sequence i's after all tokens so far, and leaves it as it is after
/// these; no two may share memory. One token costs the same however many came before. What linear_recurrence() gives
/// for the whole sequence, up to rounding: within 1e-6 of the largest value in f32. No gradient. Causal rules only.
Tensor linear_recurrence_continue(const Tensor& q, const Tensor& k, const Tensor& v, const Offsets& sequences,
                                  const RecurrenceRule& rule, std::span<const Tensor> states);

}  // namespace attune
