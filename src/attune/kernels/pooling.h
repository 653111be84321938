#pragma once

#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// Where softmax pooling's backward pass adds its gradients; one without data is not wanted.
template <class T>
struct SoftmaxPoolGradient {
  std::span<T> scores;  // [tokens]
  Rows<T> x;            // [tokens, width]
};

}  // namespace attune::kernels
