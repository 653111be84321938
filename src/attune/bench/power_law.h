#pragma once

#include <span>

#include "attune/evaluate/bootstrap.h"

namespace attune::bench {

/// y = factor * x^exponent.
struct PowerLaw {
  double factor = 0;
  evaluate::Interval exponent = {};  // 95 %, by Student's t from how far the points lie from the line

  double at(double x) const;
};

/// Least squares of log y on log x. Three points or more, all positive, not all at one x: else an Error.
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

}  // namespace attune::bench
