#pragma once

#include "attune/nn/batch.h"
#include "attune/nn/position/sinusoidal.h"

namespace attune {

/// The sinusoidal vectors of a batch's tokens (Vaswani et al. 2017, section 3.5): any length.
class SinusoidalPositions {
 public:
  /// `prepared`: so many rows are computed once; positions beyond them when they occur.
  SinusoidalPositions(std::int64_t prepared, std::int64_t width, SinusoidalLayout layout)
      : table_(sinusoidal_table(prepared, width, layout)), layout_(layout) {}

  Tensor operator()(const Batch& batch) const;  // [tokens, width], f32, without gradient

 private:
  Tensor table_;  // [prepared, width]
  SinusoidalLayout layout_;
};

}  // namespace attune
