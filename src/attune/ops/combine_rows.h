#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// y[t, :] = sum over j of weights[t, j] x[indices[t k + j], :], added in the order of j: what a mixture of experts
/// makes of its results. x: [rows, width]; weights: [tokens, k], f32 or f64; indices: [tokens k], i64 or i32. Returns
/// [tokens, width]. A row may be taken several times; its gradient adds up in the order of (t, j). Throws Error where
/// shapes do not fit, or with the index and its place where one is out of range.
Tensor combine_rows(const Tensor& x, const Tensor& weights, const Tensor& indices);

}  // namespace attune
