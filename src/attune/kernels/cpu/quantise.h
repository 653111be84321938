#pragma once

#include <cstddef>

#include "attune/kernels/rows.h"
#include "attune/tensor/quantised.h"

namespace attune::kernels {

/// Whether quantise() writes the format: Q8_0, Q4_0, Q4_1, Q4_K, Q5_K and Q6_K.
bool can_quantise(QuantisedFormat format);

/// Rows of x as blocks, row after row at `to`. Scales, minima and codes are chosen for the least sum of squared
/// differences that a search finds: several ways to spread the codes over the values, each improved by least squares,
/// then tried again with the scale as the format rounds it. x's width is a multiple of the block's values. Throws Error
/// for a format that is not written and for a value that is not finite, with its place.
void quantise(QuantisedFormat format, const Rows<const float>& x, std::byte* to);

}  // namespace attune::kernels
