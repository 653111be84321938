#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// Positive random features of the exponential kernel: y = exp(projected - |x|^2 / 2) / sqrt(features), row by row
/// (Choromanski et al. 2021, "Performer", lemma 1). projected: [..., features], x's products with the projection's
/// rows; x: [..., width]. With rows w drawn from the normal distribution the expectation of y(a) . y(b) is exp(a . b).
/// f32 or f64. Throws Error where shapes or types do not fit.
Tensor exponential_features(const Tensor& projected, const Tensor& x);

}  // namespace attune
