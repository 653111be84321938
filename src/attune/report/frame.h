#pragma once

#include <string>

#include "attune/report/axis.h"
#include "attune/report/svg.h"

namespace attune::report {

/// The area inside the axes and what it shows.
struct Frame {
  Box area;
  Range x_range, y_range;
  bool logarithmic_y = false;

  Scale x() const { return {x_range.low, x_range.high, area.x, area.x + area.width, false}; }
  Scale y() const { return {y_range.low, y_range.high, area.y + area.height, area.y, logarithmic_y}; }
  Point at(double data_x, double data_y) const { return {x()(data_x), y()(data_y)}; }
};

struct AxisTexts {
  std::string title;  // above the area, may be empty
  std::string x_label, y_label;
  Unit x_unit = Unit::number, y_unit = Unit::number;
};

/// Grid, axes, ticks with their numbers, the axes' labels and the title.
void draw_axes(Svg& svg, const Frame& frame, const AxisTexts& texts);

/// Class of the line of the i-th series: its colour and, so that colour is not the only difference, its dashes.
std::string series_line(std::size_t series);
std::string series_colour(std::size_t series);

/// Swatches with names in rows, from `at`, within `width` pixels; the height that they take.
struct LegendItem {
  std::string name;
  std::size_t series = 0;
};
enum class Swatch { line, marker, bar };
double draw_legend(Svg& svg, Box within, const std::vector<LegendItem>& items, Swatch swatch);

/// Height of draw_legend for these items without drawing.
double legend_height(double width, const std::vector<LegendItem>& items);

}  // namespace attune::report
