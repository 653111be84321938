#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// y = x / sqrt(mean(x^2) + epsilon) * weight over the last dimension (Zhang & Sennrich 2019, eq. 4).
/// x: [..., width], f32 or f64; weight: [width]. Throws Error if they do not fit or epsilon < 0. The tape keeps x and
/// one number a row.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon);

}  // namespace attune
