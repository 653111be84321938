#pragma once

#include "attune/ops/cross_entropy.h"
#include "attune/ops/linear.h"

namespace attune {

/// cross_entropy(linear(x, weight, bias), labels, options), without ever holding all the logits: rows are taken in
/// chunks, and where a gradient is wanted each chunk's is computed while its logits are at hand, and multiplied by dL
/// afterwards (the idea of Hsu et al. 2024, "Liger Kernel: Efficient Triton Kernels for LLM Training", section 3.2).
/// Values and gradients of x and of the weight are those of the two operations. x: [rows, in]; labels: [rows], i64.
/// Throws what they throw.
Tensor linear_cross_entropy(const Tensor& x, const LinearWeight& weight, const Tensor& bias, const Tensor& labels,
                            const CrossEntropyOptions& options = {});

}  // namespace attune
