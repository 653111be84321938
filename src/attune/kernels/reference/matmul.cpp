#include "attune/kernels/reference/matmul.h"

#include "attune/base/error.h"

namespace attune::kernels {

void matmul(const Matrix<double>& a, const Matrix<double>& b, const Rows<double>& c, const MatmulStart<double>& start) {
  check(a.columns == b.rows && c.count == a.rows && c.width == b.columns,
        "matmul: [{}, {}] times [{}, {}] does not give [{}, {}]", a.rows, a.columns, b.rows, b.columns, c.count,
        c.width);
  for (std::int64_t i = 0; i < c.count; ++i) {
    for (std::int64_t j = 0; j < c.width; ++j) {
      double sum = start.accumulate ? c[i][j] : start.bias ? start.bias[j] : 0.0;
      for (std::int64_t k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
      c[i][j] = sum;
    }
  }
}

}  // namespace attune::kernels
