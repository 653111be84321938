#pragma once

#include "attune/tensor/quantised.h"

namespace attune::kernels {

/// For benchmarks and tests: random blocks of any format: every bit of the codes and of the parts' small scales, and
/// scales of about 0.05 / the largest code. The same for the same seed.
QuantisedTensor random_blocks(const Shape& shape, QuantisedFormat format, std::uint64_t seed = 1);

}  // namespace attune::kernels
