#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias over the last dimension (Ba et al. 2016, eq. 4; the
/// variance divides by width). x: [..., width], f32 or f64; weight, bias: [width]. Throws Error if they do not fit or
/// epsilon < 0. The tape keeps x and two numbers a row.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon);

}  // namespace attune
