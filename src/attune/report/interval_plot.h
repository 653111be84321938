#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/report/axis.h"

namespace attune::report {

/// Values with their intervals, lying (a forest plot): for each group one line a system, in the same order, colour and
/// marker.
struct IntervalPlot {
  struct Estimate {
    std::size_t system = 0;  // index into `systems`
    double value = 0, low = 0, high = 0;
  };
  struct Group {
    std::string name;
    std::string detail = "";  // under the name: "412 documents, 120 patients"
    std::vector<Estimate> estimates = {};
  };
  std::string title, x_label;
  std::vector<std::string> systems;
  std::vector<Group> groups;
  Unit unit = Unit::number;
  std::optional<Range> x_range = {};     // otherwise from the data
  std::optional<double> reference = {};  // a vertical line: 0 for differences
  double width = 720;
  std::string description = "";

  /// Throws Error without an estimate or where one names no system.
  std::string svg() const;
};

}  // namespace attune::report
