#pragma once

#include "attune/kernels/retrieved_attention.h"

namespace attune::kernels {

/// y = softmax over the keys seen of (scale q . key) times values; zeros where a row sees none. weights: [tokens,
/// heads, count], 0 of a null key.
void retrieved_attention(const RetrievedProblem<double>& problem, double* weights, HeadRows<double> y);
/// dL/dq from the forward pass's weights and dL/dy. Keys and values are constants.
void retrieved_attention_backward(const RetrievedProblem<double>& problem, const double* weights,
                                  HeadRows<const double> dy, HeadRows<double> dq);

}  // namespace attune::kernels
