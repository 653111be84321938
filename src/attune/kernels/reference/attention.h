#pragma once

#include "attune/kernels/attention.h"

namespace attune::kernels {

/// The definition: every score is made, nothing is streamed. y: [q_tokens, heads, value width]; sums: [q_tokens, heads,
/// 2].
void attention(const AttentionProblem<double>& problem, const HeadRows<double>& y, double* sums);
void attention_backward(const AttentionProblem<double>& problem, const AttentionForward<double>& forward,
                        const AttentionGradients<double>& gradients);
/// The softmax's rows, without dropout: [heads, queries, keys of the sequence] of those wanted.
void attention_weights(const AttentionProblem<double>& problem, const WeightRows& wanted, double* weights);

}  // namespace attune::kernels
