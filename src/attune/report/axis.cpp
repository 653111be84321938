#include "attune/report/axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/report/numbers.h"

namespace attune::report {

namespace {

/// The step of 1, 2 or 5 times a power of ten that cuts `length` into about `wanted` pieces.
double nice_step(double length, int wanted) {
  const double raw = length / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

std::string label(double value, double step, Unit unit) {
  const double factor = unit == Unit::percent ? 100 : 1;
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step * factor) - 1e-9)), 0, 8);
  if (unit == Unit::percent) return fixed(value * factor, decimals) + " %";
  return std::fabs(value) >= 1e4 ? short_number(value) : fixed(value, decimals);
}

}  // namespace

double Scale::operator()(double value) const {
  if (logarithmic) return from + (to - from) * (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return from + (to - from) * (value - low) / (high - low);
}

std::vector<Tick> ticks(const Scale& scale, Unit unit, int wanted) {
  std::vector<Tick> out;
  if (scale.logarithmic) {
    const bool few = std::log10(scale.high / scale.low) < 2;
    for (double power = std::pow(10.0, std::floor(std::log10(scale.low))); power <= scale.high * 1.0001; power *= 10)
      for (const double lead : {1.0, 2.0, 5.0}) {
        const double at = lead * power;
        if ((lead > 1 && !few) || at < scale.low * 0.9999 || at > scale.high * 1.0001) continue;
        out.push_back({at, unit == Unit::percent ? percent(at, at < 0.01 ? 2 : 0) : short_number(at)});
      }
    return out;
  }
  const double step = nice_step(scale.high - scale.low, wanted);
  for (double i = std::ceil(scale.low / step - 1e-9); i * step <= scale.high + 1e-9 * step; ++i)
    out.push_back({i * step, label(i * step, step, unit)});
  return out;
}

void include(Range& range, double value, bool& any) {
  if (!std::isfinite(value)) return;
  if (!any) range = {value, value};
  any = true;
  range = {std::min(range.low, value), std::max(range.high, value)};
}

Range widened(Range range, int wanted) {
  if (range.empty()) {
    const double room = range.low == 0 ? 1 : std::fabs(range.low) * 0.1;
    range = {range.low - room, range.low + room};
  }
  const double step = nice_step(range.high - range.low, wanted);
  return {step * std::floor(range.low / step + 1e-9), step * std::ceil(range.high / step - 1e-9)};
}

}  // namespace attune::report
