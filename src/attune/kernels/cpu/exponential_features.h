#pragma once

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = exp(projected - |x|^2 / 2) / sqrt(width of y), row by row.
void exponential_features(Rows<const float> projected, Rows<const float> x, Rows<float> y);
/// dprojected = y dy, dx = -x sum(y dy).
void exponential_features_backward(Rows<const float> x, Rows<const float> y, Rows<const float> dy,
                                   Rows<float> dprojected, Rows<float> dx);

}  // namespace attune::kernels
