#pragma once

#include "attune/kernels/norm.h"

namespace attune::kernels {

/// y = (x - mean) * inverse * weight + bias; see ops/layer_norm.h.
void layer_norm(Rows<const double> x, Affine<double> affine, double epsilon, Rows<double> y,
                RowStatistics<double> kept);

/// With h = (x - mean) inverse and g = weight dy: dx = inverse (g - mean(g) - h mean(g h)), dweight = sum of dy h,
/// dbias = sum of dy.
void layer_norm_backward(Rows<const double> x, std::span<const double> weight, RowStatistics<double> kept,
                         Rows<const double> dy, NormGradient<double> d);

}  // namespace attune::kernels
