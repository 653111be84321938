#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/report/axis.h"

namespace attune::report {

/// How often values fall into equal intervals; several series share the intervals, each drawn as a share of its own
/// total so that a small group can be compared with a large one.
struct Histogram {
  struct Series {
    std::string name;  // the number of values is added to it
    std::vector<double> values;
  };
  struct Threshold {
    double at = 0;
    std::string label;
  };
  std::string title, x_label;
  std::vector<Series> series;
  std::optional<Threshold> threshold = {};
  int bins = 30;
  std::optional<Range> x_range = {};  // values outside are counted in the first and last interval
  Unit x_unit = Unit::number;
  double width = 640, height = 320;
  std::string description = "";

  /// Throws Error without a single finite value.
  std::string svg() const;
};

/// Counts of `values` in `bins` equal intervals of `range`; what lies outside goes to the ends, what is not finite is
/// left out.
std::vector<std::int64_t> histogram_counts(const std::vector<double>& values, Range range, int bins);

}  // namespace attune::report
