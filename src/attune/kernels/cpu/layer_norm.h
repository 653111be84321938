#pragma once

#include "attune/kernels/norm.h"

namespace attune::kernels {

/// y = (x - mean) * inverse * weight + bias; see ops/layer_norm.h.
void layer_norm(Rows<const float> x, Affine<float> affine, double epsilon, Rows<float> y, RowStatistics<float> kept);

/// With h = (x - mean) inverse and g = weight dy: dx = inverse (g - mean(g) - h mean(g h)), dweight = sum of dy h,
/// dbias = sum of dy.
void layer_norm_backward(Rows<const float> x, std::span<const float> weight, RowStatistics<float> kept,
                         Rows<const float> dy, NormGradient<float> d);

}  // namespace attune::kernels
