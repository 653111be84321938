#pragma once

#include <cstdint>
#include <string>

namespace attune {

/// The learning rate over a run, as transformers' schedulers give it: warm-up from 0 over `warmup_steps`, then
///   constant: 1;  linear: down to 0 at `total_steps`;  cosine: half a cosine down to 0;
///   inverse_sqrt: sqrt(warmup / step) (Vaswani et al. 2017, eq. 3, without the width).
struct Schedule {
  enum class Shape { constant, linear, cosine, inverse_sqrt } shape = Shape::linear;
  double learning_rate = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;

  /// The rate of step 1, 2, ...: the first step of a run with warm-up has rate 0, as in transformers.
  double rate(std::int64_t step) const;
  static Shape parse(const std::string& name);  // throws Error that lists the names
};

}  // namespace attune
