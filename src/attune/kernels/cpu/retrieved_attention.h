#pragma once

#include "attune/kernels/retrieved_attention.h"

namespace attune::kernels {

/// softmax(scale q k^T) v of each row over its own keys. weights: [tokens, heads, count], kept for the way back; a
/// row's bits depend on its own keys alone. Zeros where a row has none.
void retrieved_attention(const RetrievedProblem<float>& problem, float* weights, HeadRows<float> y);
/// dq alone: keys and values are constants.
void retrieved_attention_backward(const RetrievedProblem<float>& problem, const float* weights,
                                  HeadRows<const float> dy, HeadRows<float> dq);

}  // namespace attune::kernels
