#pragma once

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = exp(projected - |x|^2 / 2) / sqrt(width of y), row by row.
void exponential_features(Rows<const double> projected, Rows<const double> x, Rows<double> y);
/// dprojected = y dy, dx = -x sum(y dy).
void exponential_features_backward(Rows<const double> x, Rows<const double> y, Rows<const double> dy,
                                   Rows<double> dprojected, Rows<double> dx);

}  // namespace attune::kernels
