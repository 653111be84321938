#include "attune/kernels/reference/layer_norm.h"

#include <cmath>

namespace attune::kernels {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void layer_norm(Rows<const double> x, Affine<double> affine, double epsilon, Rows<double> y,
                RowStatistics<double> kept) {
  const auto width = static_cast<double>(x.width);
  for (std::int64_t t = 0; t < x.count; ++t) {
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < x.width; ++c) mean += x[t][c] / width;
    for (std::int64_t c = 0; c < x.width; ++c) variance += (x[t][c] - mean) * (x[t][c] - mean) / width;
    const double inverse = 1 / std::sqrt(variance + epsilon);
    for (std::int64_t c = 0; c < x.width; ++c)
      y[t][c] = (x[t][c] - mean) * inverse * affine.weight[at(c)] + affine.bias[at(c)];
    kept.mean[at(t)] = mean;
    kept.inverse[at(t)] = inverse;
  }
}

void layer_norm_backward(Rows<const double> x, std::span<const double> weight, RowStatistics<double> kept,
                         Rows<const double> dy, NormGradient<double> d) {
  const auto width = static_cast<double>(x.width);
  for (std::int64_t t = 0; t < x.count; ++t) {
    const double mean = kept.mean[at(t)], inverse = kept.inverse[at(t)];
    double mean_g = 0, mean_gh = 0;
    for (std::int64_t c = 0; c < x.width; ++c) {
      const double g = weight[at(c)] * dy[t][c], h = (x[t][c] - mean) * inverse;
      mean_g += g / width;
      mean_gh += g * h / width;
      if (!d.weight.empty()) d.weight[at(c)] += dy[t][c] * h;
      if (!d.bias.empty()) d.bias[at(c)] += dy[t][c];
    }
    if (!d.x.data) continue;
    for (std::int64_t c = 0; c < x.width; ++c) {
      const double g = weight[at(c)] * dy[t][c], h = (x[t][c] - mean) * inverse;
      d.x[t][c] = inverse * (g - mean_g - h * mean_gh);
    }
  }
}

}  // namespace attune::kernels
