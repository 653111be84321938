#include "attune/nn/position/sinusoidal_grid.h"

#include <cmath>

#include "attune/base/error.h"

namespace attune {

Tensor sinusoidal_grid(const GridSize& size, std::int64_t width, GridOrder order) {
  check(size.height >= 0 && size.width >= 0 && width >= 4 && width % 4 == 0,
        "sinusoidal positions of a grid of {} x {}: {} values do not divide into sines and cosines of two coordinates",
        size.height, size.width, width);
  const std::int64_t quarter = width / 4;
  Tensor table = Tensor::empty({size.places(), width});
  float* out = table.mutable_data<float>();
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x, out += width) {
      const bool rows_first = order == GridOrder::rows_first;
      for (std::int64_t i = 0; i < quarter; ++i) {
        const double frequency = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(quarter));
        const double first = static_cast<double>(rows_first ? y : x) * frequency;
        const double second = static_cast<double>(rows_first ? x : y) * frequency;
        out[i] = static_cast<float>(std::sin(first));
        out[quarter + i] = static_cast<float>(std::cos(first));
        out[2 * quarter + i] = static_cast<float>(std::sin(second));
        out[3 * quarter + i] = static_cast<float>(std::cos(second));
      }
    }
  }
  return table;
}

}  // namespace attune
