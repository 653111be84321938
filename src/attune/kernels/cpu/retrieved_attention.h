#pragma once

#include "attune/kernels/retrieved_attention.h"

namespace attune::kernels {

void retrieved_attention(const RetrievedProblem<float>& problem, float* weights, HeadRows<float> y);
void retrieved_attention_backward(const RetrievedProblem<float>& problem, const float* weights,
                                  HeadRows<const float> dy, HeadRows<float> dq);

}  // namespace attune::kernels
