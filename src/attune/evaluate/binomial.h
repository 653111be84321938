#pragma once

#include <cstdint>

namespace attune::evaluate {

/// The regularised incomplete beta function I_x(a, b), a and b > 0, x in [0, 1]: the continued fraction of
/// DLMF 8.17.22, to about 1e-13.
double incomplete_beta(double a, double b, double x);

/// Clopper & Pearson 1934: the one-sided upper bound of a probability after `events` in `trials` independent trials; it
/// lies below the true one with a probability of at most 1 - confidence. 1 where there is no trial. Throws Error unless
/// 0 <= events <= trials and 0 < confidence < 1.
double clopper_pearson_upper(std::int64_t events, std::int64_t trials, double confidence);

}  // namespace attune::evaluate
