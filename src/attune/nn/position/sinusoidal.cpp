#include "attune/nn/position/sinusoidal.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "attune/base/error.h"

namespace attune {

Tensor sinusoidal_rows(std::span<const std::int64_t> positions, std::int64_t width, SinusoidalLayout layout) {
  check(width >= 1, "sinusoidal positions: no rows of {} values", width);
  const bool halves = layout == SinusoidalLayout::halves;
  const std::int64_t sines = (width + 1) / 2;
  std::vector<double> wavelengths;  // over 2 pi
  for (std::int64_t i = 0; i < sines; ++i)
    wavelengths.push_back(std::pow(10000.0, 2 * static_cast<double>(i) / static_cast<double>(width)));
  Tensor rows = Tensor::empty({static_cast<std::int64_t>(positions.size()), width});
  float* row = rows.mutable_data<float>();
  for (std::int64_t p : positions) {
    for (std::int64_t i = 0; i < sines; ++i) {
      const double angle = static_cast<double>(p) / wavelengths[static_cast<std::size_t>(i)];
      row[halves ? i : 2 * i] = static_cast<float>(std::sin(angle));
      if (i < width / 2) row[halves ? sines + i : 2 * i + 1] = static_cast<float>(std::cos(angle));
    }
    row += width;
  }
  return rows;
}

Tensor sinusoidal_table(std::int64_t positions, std::int64_t width, SinusoidalLayout layout) {
  check(positions >= 0 && width >= 1, "sinusoidal positions: no table of {} rows of {} values", positions, width);
  std::vector<std::int64_t> all(static_cast<std::size_t>(positions));
  std::iota(all.begin(), all.end(), 0);
  return sinusoidal_rows(all, width, layout);
}

}  // namespace attune
