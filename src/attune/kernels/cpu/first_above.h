#pragma once

#include <cstdint>
#include <span>

namespace attune::kernels {

/// The first index >= `begin` whose value is greater than `bound`, x.size() where there is none. A NaN is greater than
/// nothing. What a search for the best few of many asks, once it knows a few.
std::int64_t first_above(std::span<const float> x, float bound, std::int64_t begin);

}  // namespace attune::kernels
