#include "attune/kernels/reference/rms_norm.h"

#include <cmath>

namespace attune::kernels {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void rms_norm(Rows<const double> x, std::span<const double> weight, double epsilon, Rows<double> y,
              std::span<double> inverse) {
  for (std::int64_t t = 0; t < x.count; ++t) {
    double mean_square = 0;
    for (std::int64_t c = 0; c < x.width; ++c) mean_square += x[t][c] * x[t][c] / static_cast<double>(x.width);
    inverse[at(t)] = 1 / std::sqrt(mean_square + epsilon);
    for (std::int64_t c = 0; c < x.width; ++c) y[t][c] = x[t][c] * inverse[at(t)] * weight[at(c)];
  }
}

void rms_norm_backward(Rows<const double> x, std::span<const double> weight, std::span<const double> inverse,
                       Rows<const double> dy, NormGradient<double> d) {
  for (std::int64_t t = 0; t < x.count; ++t) {
    double mean_gh = 0;
    for (std::int64_t c = 0; c < x.width; ++c) {
      const double h = x[t][c] * inverse[at(t)];
      mean_gh += weight[at(c)] * dy[t][c] * h / static_cast<double>(x.width);
      if (!d.weight.empty()) d.weight[at(c)] += dy[t][c] * h;
    }
    if (!d.x.data) continue;
    for (std::int64_t c = 0; c < x.width; ++c)
      d.x[t][c] = inverse[at(t)] * (weight[at(c)] * dy[t][c] - x[t][c] * inverse[at(t)] * mean_gh);
  }
}

}  // namespace attune::kernels
