#pragma once

#include <cstdint>
#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// Which rows of x make a row of y: y[t, :] = sum over j of weights[t, j] x[indices[t k + j], :], k = weights.width.
template <class T>
struct RowCombination {
  Rows<const T> weights;                  // [tokens, k]
  std::span<const std::int64_t> indices;  // [tokens k], rows of x

  std::int64_t index(std::int64_t t, std::int64_t j) const {
    return indices[static_cast<std::size_t>(t * weights.width + j)];
  }
};

/// Where combine_rows_backward() adds its gradients; one without data is not wanted.
template <class T>
struct RowCombinationGradient {
  Rows<T> x, weights;
};

}  // namespace attune::kernels
