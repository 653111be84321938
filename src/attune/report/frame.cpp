#include "attune/report/frame.h"

#include <fmt/core.h>

namespace attune::report {

namespace {

constexpr double legend_row = 20;

/// Where each item of a legend begins, relative to its top left corner.
std::vector<Point> legend_places(double width, const std::vector<LegendItem>& items) {
  std::vector<Point> places;
  Point next{0, 0};
  for (const LegendItem& item : items) {
    const double taken = 34 + text_width(item.name) + 14;
    if (next.x > 0 && next.x + taken > width) next = {0, next.y + legend_row};
    places.push_back(next);
    next.x += taken;
  }
  return places;
}

}  // namespace

void draw_axes(Svg& svg, const Frame& frame, const AxisTexts& texts) {
  const Box& area = frame.area;
  const double bottom = area.y + area.height, right = area.x + area.width;
  for (const Tick& tick : ticks(frame.y(), texts.y_unit, area.height < 160 ? 4 : 6)) {
    const double y = frame.y()(tick.at);
    svg.line({area.x, y}, {right, y}, "grid");
    svg.text({area.x - 7, y + 4}, tick.label, "tick", "end");
  }
  for (const Tick& tick : ticks(frame.x(), texts.x_unit, area.width < 340 ? 5 : area.width < 440 ? 6 : 8)) {
    const double x = frame.x()(tick.at);
    svg.line({x, bottom}, {x, bottom + 4}, "axis");
    svg.text({x, bottom + 17}, tick.label, "tick", "middle");
  }
  svg.line({area.x, bottom}, {right, bottom}, "axis");
  if (!texts.title.empty()) svg.text({14, 20}, texts.title, "title");
  svg.text({area.x + area.width / 2, bottom + 36}, texts.x_label, "label", "middle");
  svg.upright_text({16, area.y + area.height / 2}, texts.y_label, "label");
}

std::string series_colour(std::size_t series) { return fmt::format("c{}", series % 8); }

std::string series_line(std::size_t series) {
  static const char* const dashes[] = {"", " dash", " dot", " dashdot"};
  return series_colour(series) + " line" + dashes[series % 4];
}

double legend_height(double width, const std::vector<LegendItem>& items) {
  return items.empty() ? 0 : legend_places(width, items).back().y + legend_row;
}

double draw_legend(Svg& svg, Box within, const std::vector<LegendItem>& items, Swatch swatch) {
  const std::vector<Point> places = legend_places(within.width, items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double x = within.x + places[i].x, y = within.y + places[i].y + 10;
    if (swatch == Swatch::line) svg.line({x, y}, {x + 26, y}, series_line(items[i].series));
    if (swatch == Swatch::marker) svg.marker({x + 14, y}, 5, static_cast<int>(items[i].series), "");
    if (swatch == Swatch::bar) svg.rect({x + 8, y - 6, 16, 12}, series_colour(items[i].series) + " bar");
    svg.text({x + 32, y + 4}, items[i].name, "");
  }
  return legend_height(within.width, items);
}

}  // namespace attune::report
