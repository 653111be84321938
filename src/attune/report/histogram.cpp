#include "attune/report/histogram.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attune/base/error.h"
#include "attune/report/frame.h"
#include "attune/report/numbers.h"

namespace attune::report {

std::vector<std::int64_t> histogram_counts(const std::vector<double>& values, Range range, int bins) {
  check(bins > 0 && !range.empty(), "making a histogram: {} bins from {} to {}", bins, range.low, range.high);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double place = std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0) * bins;
    ++counts[static_cast<std::size_t>(std::min(static_cast<int>(place), bins - 1))];
  }
  return counts;
}

std::string Histogram::svg() const {
  Range data;
  bool any = false;
  for (const Series& one : series)
    for (const double value : one.values) include(data, value, any);
  check(any, "drawing \"{}\": there is no finite value", title);
  if (threshold) include(data, threshold->at, any);
  const Range x = x_range.value_or(widened(data));

  std::vector<LegendItem> legend;
  std::vector<std::vector<double>> shares;
  double highest = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto counts = histogram_counts(series[i].values, x, bins);
    const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    legend.push_back({fmt::format("{} ({})", series[i].name, with_thousands(total)), i});
    shares.emplace_back();
    for (const std::int64_t count : counts) {
      shares.back().push_back(total ? static_cast<double>(count) / static_cast<double>(total) : 0);
      highest = std::max(highest, shares.back().back());
    }
  }
  const double top = 36 + legend_height(width - 80, legend) + 8 + (threshold ? 14 : 0);
  const Frame frame{{62, top, width - 62 - 22, height - top - 48}, x, widened({0, highest}, 4)};
  Svg out(width, height, {title, description});
  draw_axes(out, frame, {title, x_label, "Share of the group", x_unit, Unit::percent});
  draw_legend(out, {58, 30, width - 80, 0}, legend, Swatch::bar);
  const double step = (x.high - x.low) / bins;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    std::vector<Point> outline{frame.at(x.low, 0)};
    for (int b = 0; b < bins; ++b) {
      const double share = shares[s][static_cast<std::size_t>(b)];
      outline.push_back(frame.at(x.low + b * step, share));
      outline.push_back(frame.at(x.low + (b + 1) * step, share));
    }
    outline.push_back(frame.at(x.high, 0));
    out.polygon(outline, series_colour(s) + (shares.size() == 1 ? " bar" : " band"));
    out.polyline(outline, series_colour(s) + " line");
  }
  if (threshold) {
    const double at = frame.x()(std::clamp(threshold->at, x.low, x.high));
    out.line({at, top - 4}, {at, top + frame.area.height}, "reference");
    const bool to_left = at + text_width(threshold->label) > width - 10;
    out.text({at, top - 8}, threshold->label, "strong halo", to_left ? "end" : "start");
  }
  return out.finish();
}

}  // namespace attune::report
