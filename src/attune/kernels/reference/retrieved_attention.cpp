#include "attune/kernels/reference/retrieved_attention.h"

#include <cmath>
#include <limits>

namespace attune::kernels {

namespace {

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

}  // namespace

void retrieved_attention(const RetrievedProblem<double>& p, double* weights, HeadRows<double> y) {
  for (std::int64_t row = 0; row < p.tokens * p.q.heads; ++row) {
    const double* const* keys = p.keys + row * p.count;
    const double* q = p.q.at(row / p.q.heads, row % p.q.heads);
    double* w = weights + row * p.count;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = 0; i < p.count; ++i)
      if (keys[i]) most = std::max(most, w[i] = p.scale * dot(q, keys[i], p.q.width));
    for (std::int64_t i = 0; i < p.count; ++i) sum += w[i] = keys[i] ? std::exp(w[i] - most) : 0;
    double* out = y.at(row / p.q.heads, row % p.q.heads);
    for (std::int64_t c = 0; c < p.value_width; ++c) out[c] = 0;
    for (std::int64_t i = 0; i < p.count; ++i) {
      if (!keys[i]) continue;
      w[i] /= sum;
      for (std::int64_t c = 0; c < p.value_width; ++c) out[c] += w[i] * p.values[row * p.count + i][c];
    }
  }
}

void retrieved_attention_backward(const RetrievedProblem<double>& p, const double* weights, HeadRows<const double> dy,
                                  HeadRows<double> dq) {
  for (std::int64_t row = 0; row < p.tokens * p.q.heads; ++row) {
    const double* const* keys = p.keys + row * p.count;
    const double* w = weights + row * p.count;
    const double* d = dy.at(row / p.q.heads, row % p.q.heads);
    double* out = dq.at(row / p.q.heads, row % p.q.heads);
    auto dw = [&](std::int64_t i) { return dot(d, p.values[row * p.count + i], p.value_width); };
    double mean = 0;  // dL/dscore_i = w_i (dL/dw_i - sum_j w_j dL/dw_j)
    for (std::int64_t i = 0; i < p.count; ++i)
      if (keys[i]) mean += w[i] * dw(i);
    for (std::int64_t c = 0; c < p.q.width; ++c) out[c] = 0;
    for (std::int64_t i = 0; i < p.count; ++i)
      for (std::int64_t c = 0; keys[i] && c < p.q.width; ++c) out[c] += p.scale * w[i] * (dw(i) - mean) * keys[i][c];
  }
}

}  // namespace attune::kernels
