#pragma once

#include <cstdint>
#include <span>

namespace attune::kernels {

struct AdamWRule {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double gradient_factor = 1;  // of every gradient first: clipping, or the mean of accumulated sums
  std::int64_t step = 1;       // counted from 1
};

/// One parameter's values, gradient and running means, of equal sizes.
template <class T>
struct AdamWValues {
  std::span<T> parameter;
  std::span<const T> gradient;
  std::span<T> first, second;
};

}  // namespace attune::kernels
