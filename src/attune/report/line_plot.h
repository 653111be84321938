#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/report/frame.h"

namespace attune::report {

struct LineSeries {
  std::string name;
  std::vector<Point> points;  // in x order; a y that is not finite breaks the line
  enum class Weight { normal, faint } weight = Weight::normal;
};

/// A horizontal line with its own label: a target, say.
struct ReferenceLine {
  double y = 0;
  std::string label;
};

/// A point set off by a ring, with a label beside it: the best step, the chosen threshold.
struct Mark {
  Point at{};
  std::string label;
};

/// Lines over a common x axis, each named at its right end in its colour (and with its own dashes), so that no legend
/// need be searched. Long series are thinned to their lowest and highest point a pixel. Throws Error without a single
/// finite point.
struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<LineSeries> series;
  std::vector<ReferenceLine> references = {};
  std::vector<Mark> marks = {};
  Unit x_unit = Unit::number, y_unit = Unit::number;
  bool logarithmic_y = false;                       // all y must be positive then
  std::optional<Range> x_range = {}, y_range = {};  // otherwise from the data, widened to ticks
  double width = 640, height = 360;
  std::string description = "";

  std::string svg() const;
};

/// Risk (error among what is answered automatically) over coverage (share answered automatically), Geifman & El-Yaniv
/// 2017, with the target error and the operating point.
struct RiskCoveragePlot {
  std::string title;
  std::vector<LineSeries> series;  // x coverage, y risk, both 0 to 1
  double target_error = 0;         // no line at 0
  std::optional<Mark> chosen = {};
  std::string description = "";
  double width = 640, height = 360;

  std::string svg() const;
};

}  // namespace attune::report
