#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// exp(x - max) / sum exp(x - max) over the last dimension. x: [..., width], f32 or f64. A row that is -infinity
/// throughout gives zeros.
Tensor softmax(const Tensor& x);

/// x - log sum exp(x) over the last dimension.
Tensor log_softmax(const Tensor& x);

}  // namespace attune
