#include "attune/evaluate/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"
#include "attune/evaluate/binomial.h"

namespace attune::evaluate {

namespace {

/// P(T <= t) for t >= 0 (DLMF 8.17.5 with the incomplete beta function).
double student_t_below(double t, double degrees) {
  return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

}  // namespace

double student_t_quantile(double share, double degrees) {
  check(share > 0 && share < 1, "Student's t: a share of {} is not between 0 and 1", share);
  check(degrees >= 1, "Student's t: {} degrees of freedom, fewer than 1", degrees);
  if (share < 0.5) return -student_t_quantile(1 - share, degrees);
  double low = 0, high = 1;
  while (student_t_below(high, degrees) < share) high *= 2;
  for (int step = 0; step < 200 && high - low > 1e-11 * high; ++step) {
    const double middle = (low + high) / 2;
    (student_t_below(middle, degrees) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval mean_interval(std::span<const double> values, double level) {
  check(!values.empty(), "mean: there is no value");
  check(level > 0 && level < 1, "mean: a level of {} is not between 0 and 1", level);
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  const double mean = sum / n;
  for (double value : values) squares += (value - mean) * (value - mean);
  if (values.size() == 1)
    return {mean, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double half = student_t_quantile((1 + level) / 2, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

Interval wilson_interval(double share, std::int64_t trials, double level) {
  check(share >= 0 && share <= 1, "Wilson's interval: a share of {} is not within 0 and 1", share);
  check(trials >= 1, "Wilson's interval: {} trials", trials);
  check(level > 0 && level < 1, "Wilson's interval: a level of {} is not between 0 and 1", level);
  const auto n = static_cast<double>(trials);
  const double z = student_t_quantile((1 + level) / 2, 1e9);  // the normal distribution's
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {share, std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace attune::evaluate
