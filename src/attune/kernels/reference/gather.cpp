#include "attune/kernels/reference/gather.h"

namespace attune::kernels {

void gather_rows(Rows<const double> x, std::span<const std::int64_t> indices, Rows<double> y) {
  for (std::int64_t i = 0; i < y.count; ++i)
    for (std::int64_t c = 0; c < y.width; ++c) y[i][c] = x[indices[static_cast<std::size_t>(i)]][c];
}

void scatter_add_rows(Rows<const double> x, std::span<const std::int64_t> indices, Rows<double> into) {
  for (std::int64_t i = 0; i < x.count; ++i) {
    std::int64_t row = indices[static_cast<std::size_t>(i)];
    if (row < 0) continue;
    for (std::int64_t c = 0; c < x.width; ++c) into[row][c] += x[i][c];
  }
}

}  // namespace attune::kernels
