#include "attune/bench/power_law.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/evaluate/intervals.h"

namespace attune::bench {

double PowerLaw::at(double x) const { return factor * std::pow(x, exponent.value); }

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  check(x.size() == y.size() && x.size() >= 3, "a power law is fitted to three points or more, not {} and {}", x.size(),
        y.size());
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    check(x[i] > 0 && y[i] > 0, "a power law is of positive values: point {} is ({}, {})", i + 1, x[i], y[i]);
    mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx, xy += dx * (std::log(y[i]) - mean_y);
  }
  check(xx > 0, "a power law is fitted to different x: all {} are {}", x.size(), x[0]);
  const double slope = xy / xx, intercept = mean_y - slope * mean_x;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(y[i]) - intercept - slope * std::log(x[i]);
    squares += off * off;
  }
  const double half = evaluate::student_t_quantile(0.975, n - 2) * std::sqrt(squares / (n - 2) / xx);
  return {std::exp(intercept), {slope, slope - half, slope + half}};
}

}  // namespace attune::bench
