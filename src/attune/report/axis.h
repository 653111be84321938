#pragma once

#include <string>
#include <vector>

namespace attune::report {

/// How an axis writes its numbers.
enum class Unit { number, percent };

/// From `low` to `high` in data, linear or logarithmic, onto `from` to `to` in pixels.
struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool logarithmic = false;

  double operator()(double value) const;
};

struct Tick {
  double at;
  std::string label;
};

/// About `wanted` ticks at 1, 2 or 5 times a power of ten, inside [low, high]; on a logarithmic scale powers of ten,
/// with 2 and 5 between where there are few.
std::vector<Tick> ticks(const Scale& scale, Unit unit, int wanted = 6);

struct Range {
  double low = 0, high = 0;
  bool empty() const { return !(low < high); }
};

/// Grows to hold `value`, if finite.
void include(Range& range, double value, bool& any);  // `any`: whether `range` holds a value yet

/// `range` widened so that it begins and ends at ticks; a single value gets room on both sides.
Range widened(Range range, int wanted = 6);

}  // namespace attune::report
