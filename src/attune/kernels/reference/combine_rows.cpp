#include "attune/kernels/reference/combine_rows.h"

namespace attune::kernels {

void combine_rows(Rows<const double> x, const RowCombination<double>& by, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t)
    for (std::int64_t c = 0; c < y.width; ++c) {
      y[t][c] = 0;
      for (std::int64_t j = 0; j < by.weights.width; ++j) y[t][c] += by.weights[t][j] * x[by.index(t, j)][c];
    }
}

void combine_rows_backward(Rows<const double> x, const RowCombination<double>& by, Rows<const double> dy,
                           RowCombinationGradient<double> d) {
  for (std::int64_t t = 0; t < dy.count; ++t)
    for (std::int64_t j = 0; j < by.weights.width; ++j)
      for (std::int64_t c = 0; c < dy.width; ++c) {
        if (d.x.data) d.x[by.index(t, j)][c] += by.weights[t][j] * dy[t][c];
        if (d.weights.data) d.weights[t][j] += dy[t][c] * x[by.index(t, j)][c];
      }
}

}  // namespace attune::kernels
