#include "attune/kernels/reference/quantised_matmul.h"

#include <vector>

#include "attune/kernels/reference/dequantise.h"

namespace attune::kernels {

void matmul(const Rows<const double>& x, const QuantisedRows& w, const Rows<double>& y, const double* bias) {
  std::vector<float> row(static_cast<std::size_t>(w.width));
  for (std::int64_t j = 0; j < w.count; ++j) {
    dequantise(w.format, w[j], row);
    for (std::int64_t i = 0; i < x.count; ++i) {
      double sum = bias ? bias[j] : 0.0;
      for (std::size_t k = 0; k < row.size(); ++k) sum += x[i][k] * static_cast<double>(row[k]);
      y[i][j] = sum;
    }
  }
}

}  // namespace attune::kernels
