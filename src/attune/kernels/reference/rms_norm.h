#pragma once

#include "attune/kernels/norm.h"

namespace attune::kernels {

/// y = x * inverse * weight, inverse = 1 / sqrt(mean(x^2) + epsilon) per row; see ops/rms_norm.h.
void rms_norm(Rows<const double> x, std::span<const double> weight, double epsilon, Rows<double> y,
              std::span<double> inverse);

/// With h = x inverse and g = weight dy: dx = inverse (g - h mean(g h)), dweight = sum of dy h.
void rms_norm_backward(Rows<const double> x, std::span<const double> weight, std::span<const double> inverse,
                       Rows<const double> dy, NormGradient<double> d);

}  // namespace attune::kernels
