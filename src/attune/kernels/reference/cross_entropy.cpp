#include "attune/kernels/reference/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::kernels {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double weight_of(const LabelledRows<double>& rows, std::int64_t c) {
  return rows.weights.empty() ? 1.0 : rows.weights[at(c)];
}

/// What row t's target distribution gives class c: (1 - s) w[y] at the label, and s / classes * w[c] everywhere.
double target(const LabelledRows<double>& rows, std::int64_t t, std::int64_t c) {
  const double spread = rows.label_smoothing / static_cast<double>(rows.logits.width) * weight_of(rows, c);
  return spread + (c == rows.labels[at(t)] ? (1 - rows.label_smoothing) * weight_of(rows, c) : 0);
}

}  // namespace

double cross_entropy(const LabelledRows<double>& rows, std::span<double> log_sums) {
  const auto& x = rows.logits;
  double total = 0;
  for (std::int64_t t = 0; t < x.count; ++t) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < x.width; ++c) most = std::max(most, x[t][c]);
    for (std::int64_t c = 0; c < x.width; ++c) sum += std::exp(x[t][c] - most);
    log_sums[at(t)] = most + std::log(sum);
    if (rows.labels[at(t)] == rows.ignore_index) continue;
    for (std::int64_t c = 0; c < x.width; ++c)
      if (double share = target(rows, t, c); share != 0) total += share * (log_sums[at(t)] - x[t][c]);
  }
  return total;
}

void cross_entropy_backward(const LabelledRows<double>& rows, std::span<const double> log_sums, double factor,
                            Rows<double> dlogits) {
  const auto& x = rows.logits;
  for (std::int64_t t = 0; t < x.count; ++t) {
    const bool counts = rows.labels[at(t)] != rows.ignore_index;
    double whole = 0;  // of the target distribution
    for (std::int64_t c = 0; c < x.width; ++c) whole += target(rows, t, c);
    for (std::int64_t c = 0; c < x.width; ++c) {
      const double probability = std::exp(x[t][c] - log_sums[at(t)]);
      dlogits[t][c] = counts ? factor * (whole * probability - target(rows, t, c)) : 0;
    }
  }
}

}  // namespace attune::kernels
