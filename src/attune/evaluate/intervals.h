#pragma once

#include <cstdint>
#include <span>

#include "attune/evaluate/bootstrap.h"

namespace attune::evaluate {

/// The value that Student's t with `degrees` of freedom (1 or more, need not be whole) stays below with probability
/// `share`, 0 < share < 1; to about 1e-10. Throws Error outside of that.
double student_t_quantile(double share, double degrees);

/// The mean of independent values and its interval by Student's t. With one value the interval is not finite.
/// Throws Error without a value.
Interval mean_interval(std::span<const double> values, double level = 0.95);

/// Of a share seen in `trials` independent trials: Wilson 1927. Stays within [0, 1] and has a width where the share is
/// 0 or 1, too. Throws Error unless 0 <= share <= 1 and trials >= 1.
Interval wilson_interval(double share, std::int64_t trials, double level = 0.95);

}  // namespace attune::evaluate
