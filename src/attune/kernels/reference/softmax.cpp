#include "attune/kernels/reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::kernels {

namespace {

double largest(const double* x, std::int64_t width) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < width; ++c) most = std::max(most, x[c]);
  return most;
}

}  // namespace

void softmax(Rows<const double> x, Rows<double> y) {
  for (std::int64_t t = 0; t < x.count; ++t) {
    const double most = largest(x[t], x.width);
    double sum = 0;
    for (std::int64_t c = 0; c < x.width; ++c)
      sum += y[t][c] = std::isinf(most) && most < 0 ? 0 : std::exp(x[t][c] - most);
    for (std::int64_t c = 0; c < x.width; ++c) y[t][c] = sum == 0 ? 0 : y[t][c] / sum;
  }
}

void softmax_backward(Rows<const double> y, Rows<const double> dy, Rows<double> dx) {
  for (std::int64_t t = 0; t < y.count; ++t) {
    double sum = 0;
    for (std::int64_t c = 0; c < y.width; ++c) sum += dy[t][c] * y[t][c];
    for (std::int64_t c = 0; c < y.width; ++c) dx[t][c] = y[t][c] * (dy[t][c] - sum);
  }
}

void log_softmax(Rows<const double> x, Rows<double> y) {
  for (std::int64_t t = 0; t < x.count; ++t) {
    const double most = largest(x[t], x.width);
    double sum = 0;
    for (std::int64_t c = 0; c < x.width; ++c) sum += std::exp(x[t][c] - most);
    for (std::int64_t c = 0; c < x.width; ++c) y[t][c] = x[t][c] - (most + std::log(sum));
  }
}

void log_softmax_backward(Rows<const double> y, Rows<const double> dy, Rows<double> dx) {
  for (std::int64_t t = 0; t < y.count; ++t) {
    double sum = 0;
    for (std::int64_t c = 0; c < y.width; ++c) sum += dy[t][c];
    for (std::int64_t c = 0; c < y.width; ++c) dx[t][c] = dy[t][c] - std::exp(y[t][c]) * sum;
  }
}

}  // namespace attune::kernels
