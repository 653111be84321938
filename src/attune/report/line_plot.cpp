#include "attune/report/line_plot.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/report/numbers.h"

namespace attune::report {

namespace {

struct EndLabel {
  std::string name;
  std::optional<std::size_t> series;  // none: a reference line's
  Point end = {};                     // of the line
  double y = 0;                       // of the text
};

/// Moves labels apart until they are `gap` pixels from one another, within [top, bottom], keeping their order.
void spread(std::vector<EndLabel>& labels, double gap, double top, double bottom) {
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) {
    return a.end.y != b.end.y ? a.end.y < b.end.y : a.series < b.series;
  });
  double lowest = top;
  for (EndLabel& label : labels) lowest = (label.y = std::max(label.end.y, lowest)) + gap;
  double highest = bottom;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label)
    highest = (label->y = std::min(label->y, highest)) - gap;
}

/// The lowest and the highest of the points in each pixel column, in the order in which they come.
std::vector<Point> thinned(const std::vector<Point>& pixels) {
  if (pixels.size() < 1500) return pixels;
  std::vector<Point> out;
  for (std::size_t begin = 0; begin < pixels.size();) {
    std::size_t end = begin + 1, low = begin, high = begin;
    for (; end < pixels.size() && pixels[end].x < pixels[begin].x + 1; ++end) {
      if (pixels[end].y < pixels[low].y) low = end;
      if (pixels[end].y > pixels[high].y) high = end;
    }
    out.push_back(pixels[std::min(low, high)]);
    if (low != high) out.push_back(pixels[std::max(low, high)]);
    begin = end;
  }
  return out;
}

bool drawable(const Point& p, bool logarithmic) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (!logarithmic || p.y > 0);
}

void draw_series(Svg& svg, const Frame& frame, const LineSeries& line, std::size_t index) {
  const std::string classes =
      line.weight == LineSeries::Weight::faint ? series_colour(index) + " ghost" : series_line(index);
  std::vector<Point> run;
  auto flush = [&] {
    if (run.size() == 1) svg.circle(run[0], 2.5, series_colour(index) + " fill");
    if (run.size() > 1) svg.polyline(thinned(run), classes);
    run.clear();
  };
  for (const Point& p : line.points) {
    if (drawable(p, frame.logarithmic_y))
      run.push_back(frame.at(p.x, std::clamp(p.y, frame.y_range.low, frame.y_range.high)));
    else
      flush();
  }
  flush();
}

struct DataRanges {
  Range x, y;
};

DataRanges ranges_of(const LinePlot& plot) {
  DataRanges found;
  bool any_x = false, any_y = false;
  for (const LineSeries& line : plot.series)
    for (const Point& p : line.points)
      if (drawable(p, plot.logarithmic_y)) include(found.x, p.x, any_x), include(found.y, p.y, any_y);
  check(any_x, "drawing \"{}\": there is no finite point", plot.title);
  for (const ReferenceLine& reference : plot.references) include(found.y, reference.y, any_y);
  if (found.x.empty()) found.x = widened(found.x);
  if (plot.logarithmic_y)
    found.y = {found.y.low / 1.1, found.y.high * 1.1};
  else
    found.y = widened(found.y);
  return {plot.x_range.value_or(found.x), plot.y_range.value_or(found.y)};
}

void draw_marks(Svg& svg, const Frame& frame, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks) {
    const Point p = frame.at(std::clamp(mark.at.x, frame.x_range.low, frame.x_range.high),
                             std::clamp(mark.at.y, frame.y_range.low, frame.y_range.high));
    svg.circle(p, 5, "ring", mark.label);
    const double right = frame.area.x + frame.area.width;
    const bool to_left = p.x + 10 + text_width(mark.label) > right;
    const double y = p.y - 10 > frame.area.y + 10 ? p.y - 10 : p.y + 20;
    svg.text({to_left ? p.x - 4 : p.x + 4, y}, mark.label, "strong halo", to_left ? "end" : "start");
  }
}

}  // namespace

std::string LinePlot::svg() const {
  const DataRanges data = ranges_of(*this);
  std::vector<EndLabel> labels;
  double label_room = 16;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].name.empty() || series[i].weight == LineSeries::Weight::faint) continue;
    label_room = std::max(label_room, text_width(series[i].name) * 1.2 + 34);
    auto last = std::find_if(series[i].points.rbegin(), series[i].points.rend(),
                             [&](const Point& p) { return drawable(p, logarithmic_y); });
    if (last != series[i].points.rend()) labels.push_back({series[i].name, i, *last});
  }
  for (const ReferenceLine& reference : references) {
    label_room = std::max(label_room, text_width(reference.label) + 34);
    labels.push_back({reference.label, {}, {data.x.high, reference.y}});
  }
  const double top = title.empty() ? 14 : 40;
  const Frame frame{{62, top, width - 62 - label_room, height - top - 48}, data.x, data.y, logarithmic_y};
  Svg out(width, height, {title, description});
  draw_axes(out, frame, {title, x_label, y_label, x_unit, y_unit});
  const double right = frame.area.x + frame.area.width;
  for (const ReferenceLine& reference : references) {
    const double y = frame.y()(reference.y);
    out.line({frame.area.x, y}, {right, y}, "reference");
  }
  for (std::size_t i = 0; i < series.size(); ++i) draw_series(out, frame, series[i], i);
  for (EndLabel& label : labels) label.end = frame.at(label.end.x, std::clamp(label.end.y, data.y.low, data.y.high));
  spread(labels, 15, frame.area.y, frame.area.y + frame.area.height);
  for (const EndLabel& label : labels) {
    if (label.end.x < right - 1) out.line({label.end.x, label.end.y}, {right + 6, label.y}, "grid");
    out.line({right + 8, label.y}, {right + 26, label.y}, label.series ? series_line(*label.series) : "reference");
    out.text({right + 31, label.y + 4}, label.name, label.series ? series_colour(*label.series) + " ctext" : "label");
  }
  draw_marks(out, frame, marks);
  return out.finish();
}

std::string RiskCoveragePlot::svg() const {
  LinePlot plot{.title = title,
                .x_label = "Coverage: share of documents answered automatically, surest first",
                .y_label = "Risk: share of those that are wrong",
                .series = series,
                .x_unit = Unit::percent,
                .y_unit = Unit::percent,
                .x_range = Range{0, 1},
                .width = width,
                .height = height,
                .description = description};
  if (target_error > 0) plot.references.push_back({target_error, "target " + percent(target_error)});
  if (chosen) plot.marks.push_back(*chosen);
  Range risks{0, target_error};
  bool any = true;
  for (const LineSeries& line : series)
    for (const Point& p : line.points) include(risks, p.y, any);
  plot.y_range = widened(risks);
  return plot.svg();
}

}  // namespace attune::report
