#pragma once

#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

// One row for each segment of a ragged batch. x: [tokens, width], f32 or f64; offsets.total() must be tokens, else
// Error. Sums are taken in the order of rows; an empty segment gives zeros and no gradient.

/// y[s, :] = mean of x's rows of segment s. y: [segments, width].
Tensor segment_mean(const Tensor& x, const Offsets& offsets);
/// y[s, c] = the largest x[t, c] of segment s; the gradient goes to the first row that has it.
Tensor segment_max(const Tensor& x, const Offsets& offsets);
/// y[s, :] = sum over t in s of softmax over s of (scores)[t] * x[t, :]: attention pooling. scores: [tokens, 1].
Tensor segment_softmax_pool(const Tensor& scores, const Tensor& x, const Offsets& offsets);

}  // namespace attune
