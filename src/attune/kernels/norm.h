#pragma once

#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// A normalisation's parameters, [width] each.
template <class T>
struct Affine {
  std::span<const T> weight, bias;
};

/// What the forward pass of a normalisation leaves for its backward pass: per row. RMSNorm has no mean.
template <class T>
struct RowStatistics {
  std::span<T> mean, inverse;  // [rows]; inverse = 1 / sqrt(variance + epsilon)
};

/// Where a normalisation's backward pass puts its gradients. x is written (it may lie where x or dy does), weight and
/// bias are added to; those without data are not wanted.
template <class T>
struct NormGradient {
  Rows<T> x;
  std::span<T> weight, bias;  // [width]
};

}  // namespace attune::kernels
