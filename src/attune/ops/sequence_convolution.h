#pragma once

#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// A convolution along each sequence, one filter for all values of a head, of odd width and centred on the token; what
/// lies beyond a sequence's ends counts as 0:
///   y[t, h, :] = sum over j of filters[h, j] x[t + j - width / 2, h, :].
/// x: [tokens, heads, head_dim], f32 or f64; filters: [heads, width]. Returns [tokens, heads, head_dim]; sums in the
/// order of j. (Xiong et al. 2021, "Nystromformer", section 3.3, the skip connection.) Throws Error where shapes, types
/// or offsets do not fit.
Tensor sequence_convolution(const Tensor& x, const Tensor& filters, const Offsets& offsets);

}  // namespace attune
