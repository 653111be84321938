#pragma once

#include "attune/kernels/norm.h"

namespace attune::kernels {

/// y = x * inverse * weight, inverse = 1 / sqrt(mean(x^2) + epsilon) per row; see ops/rms_norm.h.
void rms_norm(Rows<const float> x, std::span<const float> weight, double epsilon, Rows<float> y,
              std::span<float> inverse);

/// With h = x inverse and g = weight dy: dx = inverse (g - h mean(g h)), dweight = sum of dy h.
void rms_norm_backward(Rows<const float> x, std::span<const float> weight, std::span<const float> inverse,
                       Rows<const float> dy, NormGradient<float> d);

}  // namespace attune::kernels
