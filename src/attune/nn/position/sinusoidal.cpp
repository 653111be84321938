#include "attune/nn/position/sinusoidal.h"

#include <cmath>

#include "attune/base/error.h"

namespace attune {

Tensor sinusoidal_table(std::int64_t positions, std::int64_t width, SinusoidalLayout layout) {
  check(positions >= 0 && width >= 1, "sinusoidal positions: no table of {} rows of {} values", positions, width);
  const std::int64_t sines = (width + 1) / 2;
  Tensor table = Tensor::empty({positions, width});
  float* row = table.mutable_data<float>();
  for (std::int64_t p = 0; p < positions; ++p, row += width) {
    for (std::int64_t i = 0; i < sines; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, 2 * static_cast<double>(i) / static_cast<double>(width));
      const bool halves = layout == SinusoidalLayout::halves;
      row[halves ? i : 2 * i] = static_cast<float>(std::sin(angle));
      if (i < width / 2) row[halves ? sines + i : 2 * i + 1] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace attune
