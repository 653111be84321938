#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// Value by value; f32 or f64, rows evenly spaced; results are contiguous. Throws Error where shapes or types differ.
Tensor add(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor scale(const Tensor& x, double factor);
/// x, or the nearer of -most and most where it lies beyond. The gradient passes where |x| <= most, as PyTorch's clamp.
/// Throws Error unless most >= 0.
Tensor clamp(const Tensor& x, double most);

/// y[t, :] = x[t, :] + row: a bias. x: [..., width], row: [width].
Tensor add_row(const Tensor& x, const Tensor& row);

/// The sum and the mean of all values, as a scalar of x's type; added up in f64 in a fixed order. The mean of nothing
/// is an Error.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

}  // namespace attune
