#pragma once

#include "attune/kernels/cross_entropy.h"

namespace attune::kernels {

/// The sum of the rows' losses (not divided), and log sum exp(logits) of each row for the backward pass.
double cross_entropy(const LabelledRows<float>& rows, std::span<float> log_sums);
/// dlogits = factor times the gradient of that sum; it may lie where the logits do. Rows that are ignored get zeros.
void cross_entropy_backward(const LabelledRows<float>& rows, std::span<const float> log_sums, double factor,
                            Rows<float> dlogits);

}  // namespace attune::kernels
