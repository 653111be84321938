#include "attune/report/interval_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"
#include "attune/report/frame.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"

namespace attune::report {

namespace {

constexpr double row_height = 20, group_gap = 14;

std::string number(double value, Unit unit) { return unit == Unit::percent ? percent(value) : fixed(value); }

Range range_of(const IntervalPlot& plot) {
  Range range;
  bool any = false;
  for (const auto& group : plot.groups)
    for (const auto& one : group.estimates) {
      check(one.system < plot.systems.size(), "drawing \"{}\": an estimate names system {} of {}", plot.title,
            one.system, plot.systems.size());
      include(range, one.value, any), include(range, one.low, any), include(range, one.high, any);
    }
  check(any, "drawing \"{}\": there is no estimate", plot.title);
  if (plot.reference) include(range, *plot.reference, any);
  return widened(range);
}

double group_height(const IntervalPlot::Group& group) {
  const double least = group.detail.empty() ? row_height : 2 * 16;
  return std::max(least, row_height * static_cast<double>(group.estimates.size())) + group_gap;
}

void draw_estimate(Svg& out, const Frame& frame, const IntervalPlot& plot, const IntervalPlot::Estimate& one,
                   double y) {
  const double low = frame.x()(std::clamp(one.low, frame.x_range.low, frame.x_range.high));
  const double high = frame.x()(std::clamp(one.high, frame.x_range.low, frame.x_range.high));
  const std::string colour = series_colour(one.system);
  const std::string tip =
      fmt::format("{}: {}, 95 % interval {} to {}", plot.systems[one.system], number(one.value, plot.unit),
                  number(one.low, plot.unit), number(one.high, plot.unit));
  out.line({low, y}, {high, y}, colour + " line");
  out.line({low, y - 4}, {low, y + 4}, colour + " line");
  out.line({high, y - 4}, {high, y + 4}, colour + " line");
  out.marker({frame.x()(std::clamp(one.value, frame.x_range.low, frame.x_range.high)), y}, 5,
             static_cast<int>(one.system), tip);
}

}  // namespace

std::string IntervalPlot::svg() const {
  const Range data = range_of(*this);
  std::vector<LegendItem> legend;
  for (std::size_t i = 0; i < systems.size(); ++i) legend.push_back({systems[i], i});
  double names = 0, rows = 0;
  for (const Group& group : groups) {
    names =
        std::max({names, text_width(shortened(group.name, 34)) * 1.06, text_width(shortened(group.detail, 40), 10)});
    rows += group_height(group);
  }
  const double left = names + 26, values = 158, top = 34 + legend_height(width - 28, legend) + 10;
  const Frame frame{{left, top, width - left - values, rows}, x_range.value_or(data), {0, 1}};
  Svg out(width, top + rows + 50, {title, description});
  out.text({14, 20}, title, "title");
  draw_legend(out, {14, 32, width - 28, 0}, legend, Swatch::marker);
  double y = top;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double tall = group_height(groups[g]);
    if (g % 2 == 0) out.rect({8, y, width - 16, tall}, "stripe");
    y += tall;
  }
  for (const Tick& tick : ticks(frame.x(), unit, frame.area.width < 340 ? 5 : 8)) {
    const double x = frame.x()(tick.at);
    out.line({x, top}, {x, top + rows}, "grid");
    out.text({x, top + rows + 16}, tick.label, "tick", "middle");
  }
  if (reference) {
    const double x = frame.x()(std::clamp(*reference, frame.x_range.low, frame.x_range.high));
    out.line({x, top}, {x, top + rows}, "reference");
  }
  y = top;
  for (const Group& group : groups) {
    const double tall = group_height(group);
    const double middle = y + tall / 2;
    out.text({16, group.detail.empty() ? middle + 4 : middle - 2}, shortened(group.name, 34), "strong");
    if (!group.detail.empty()) out.text({16, middle + 12}, shortened(group.detail, 40), "small");
    double row = middle - row_height * (static_cast<double>(group.estimates.size()) - 1) / 2;
    for (const Estimate& one : group.estimates) {
      draw_estimate(out, frame, *this, one, row);
      out.text({width - values + 12, row + 4},
               fmt::format("{}  [{}, {}]", number(one.value, unit), number(one.low, unit), number(one.high, unit)),
               series_colour(one.system) + " value ctext");
      row += row_height;
    }
    y += tall;
  }
  out.text({frame.area.x + frame.area.width / 2, top + rows + 38}, x_label, "label", "middle");
  return out.finish();
}

}  // namespace attune::report
