#include "attune/kernels/reference/exponential_features.h"

#include <cmath>

namespace attune::kernels {

void exponential_features(Rows<const double> projected, Rows<const double> x, Rows<double> y) {
  for (std::int64_t t = 0; t < y.count; ++t) {
    double square = 0;
    for (std::int64_t c = 0; c < x.width; ++c) square += x[t][c] * x[t][c];
    for (std::int64_t c = 0; c < y.width; ++c)
      y[t][c] = std::exp(projected[t][c] - square / 2) / std::sqrt(static_cast<double>(y.width));
  }
}

void exponential_features_backward(Rows<const double> x, Rows<const double> y, Rows<const double> dy,
                                   Rows<double> dprojected, Rows<double> dx) {
  for (std::int64_t t = 0; t < y.count; ++t) {
    double sum = 0;
    for (std::int64_t c = 0; c < y.width; ++c) sum += dprojected[t][c] = y[t][c] * dy[t][c];
    for (std::int64_t c = 0; c < x.width; ++c) dx[t][c] = -x[t][c] * sum;
  }
}

}  // namespace attune::kernels
