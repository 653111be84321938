#include "attune/kernels/reference/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace attune::kernels {

namespace {

std::int64_t count_of(std::span<const std::int64_t> starts) { return static_cast<std::int64_t>(starts.size()) - 1; }

/// Calls body(s, t) for every row t of every segment s, in order.
template <class Body>
void for_rows(std::span<const std::int64_t> starts, const Body& body) {
  for (std::int64_t s = 0; s < count_of(starts); ++s)
    for (std::int64_t t = starts[static_cast<std::size_t>(s)]; t < starts[static_cast<std::size_t>(s) + 1]; ++t)
      body(s, t);
}

double length_of(std::span<const std::int64_t> starts, std::int64_t s) {
  return static_cast<double>(starts[static_cast<std::size_t>(s) + 1] - starts[static_cast<std::size_t>(s)]);
}

void clear(Rows<double> y) {
  for (std::int64_t s = 0; s < y.count; ++s) std::fill(y[s], y[s] + y.width, 0.0);
}

}  // namespace

void segment_mean(Rows<const double> x, std::span<const std::int64_t> starts, Rows<double> y) {
  clear(y);
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    for (std::int64_t c = 0; c < x.width; ++c) y[s][c] += x[t][c] / length_of(starts, s);
  });
}

void segment_mean_backward(Rows<const double> dy, std::span<const std::int64_t> starts, Rows<double> dx) {
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    for (std::int64_t c = 0; c < dx.width; ++c) dx[t][c] += dy[s][c] / length_of(starts, s);
  });
}

void segment_max(Rows<const double> x, std::span<const std::int64_t> starts, Rows<double> y, Rows<std::int64_t> where) {
  clear(y);
  for (std::int64_t s = 0; s < where.count; ++s) std::fill(where[s], where[s] + where.width, -1);
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    for (std::int64_t c = 0; c < x.width; ++c)
      if (where[s][c] < 0 || x[t][c] > y[s][c] || (std::isnan(x[t][c]) && !std::isnan(y[s][c]))) {
        y[s][c] = x[t][c];
        where[s][c] = t;
      }
  });
}

void segment_max_backward(Rows<const double> dy, Rows<const std::int64_t> where, Rows<double> dx) {
  for (std::int64_t s = 0; s < dy.count; ++s)
    for (std::int64_t c = 0; c < dy.width; ++c)
      if (where[s][c] >= 0) dx[where[s][c]][c] += dy[s][c];
}

void segment_softmax(std::span<const double> scores, std::span<const std::int64_t> starts, std::span<double> weights) {
  std::vector<double> largest(static_cast<std::size_t>(count_of(starts)), -std::numeric_limits<double>::infinity());
  std::vector<double> sums(largest.size(), 0.0);
  auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for_rows(starts, [&](std::int64_t s, std::int64_t t) { largest[at(s)] = std::max(largest[at(s)], scores[at(t)]); });
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    sums[at(s)] += weights[at(t)] = std::exp(scores[at(t)] - largest[at(s)]);
  });
  for_rows(starts, [&](std::int64_t s, std::int64_t t) { weights[at(t)] /= sums[at(s)]; });
}

void segment_weighted_sum(std::span<const double> weights, Rows<const double> x, std::span<const std::int64_t> starts,
                          Rows<double> y) {
  clear(y);
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    for (std::int64_t c = 0; c < x.width; ++c) y[s][c] += weights[static_cast<std::size_t>(t)] * x[t][c];
  });
}

void softmax_pool_backward(std::span<const double> weights, Rows<const double> x, std::span<const std::int64_t> starts,
                           Rows<const double> dy, SoftmaxPoolGradient<double> d) {
  // With a[t] = dy[s] . x[t]: dscores[t] = weights[t] (a[t] - sum over u of weights[u] a[u]).
  auto product = [&](std::int64_t s, std::int64_t t) {
    double sum = 0;
    for (std::int64_t c = 0; c < x.width; ++c) sum += dy[s][c] * x[t][c];
    return sum;
  };
  std::vector<double> mean(static_cast<std::size_t>(count_of(starts)), 0.0);
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    mean[static_cast<std::size_t>(s)] += weights[static_cast<std::size_t>(t)] * product(s, t);
  });
  for_rows(starts, [&](std::int64_t s, std::int64_t t) {
    double weight = weights[static_cast<std::size_t>(t)];
    if (!d.scores.empty())
      d.scores[static_cast<std::size_t>(t)] += weight * (product(s, t) - mean[static_cast<std::size_t>(s)]);
    if (d.x.data)
      for (std::int64_t c = 0; c < x.width; ++c) d.x[t][c] += weight * dy[s][c];
  });
}

}  // namespace attune::kernels
