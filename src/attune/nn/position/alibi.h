#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// ALiBi's slopes (Press et al. 2022, section 3): 2^(-8/heads), its square, its cube, ... for a power of two of heads.
/// For others, as in the authors' code, those of the power of two below, and then every second one of the power above.
/// Throws Error unless heads > 0.
std::vector<double> alibi_slopes(std::int64_t heads);

}  // namespace attune
