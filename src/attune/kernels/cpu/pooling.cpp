#include "attune/kernels/cpu/pooling.h"

#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/pooling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

using Starts = std::span<const std::int64_t>;

/// Calls body(s, begin, end) for each segment in parallel: many short ones to a piece, so that pieces are of some size.
template <class Body>
HWY_INLINE void for_segments(Starts starts, std::int64_t width, const Body& body) {
  const auto count = static_cast<std::int64_t>(starts.size()) - 1;
  if (count <= 0 || width == 0) return;
  const std::int64_t values = std::max<std::int64_t>(1, starts.back() * width);
  const std::int64_t grain = std::max<std::int64_t>(1, std::min(count, elementwise_grain * count / values));
  parallel(count, grain, [&](std::int64_t first, std::int64_t last) HWY_ATTR {
    for (std::int64_t s = first; s < last; ++s)
      body(s, starts[static_cast<std::size_t>(s)], starts[static_cast<std::size_t>(s) + 1]);
  });
}

/// into += factor * x for one row.
HWY_INLINE void add_scaled(std::int64_t n, float factor, const float* x, float* into) {
  const auto f = hn::Set(F32(), factor);
  map(
      n, into, [&](auto sum, auto v) HWY_ATTR { return hn::MulAdd(f, v, sum); }, into, x);
}

void segment_mean(Rows<const float> x, Starts starts, Rows<float> y) {
  for_segments(starts, x.width, [&](std::int64_t s, std::int64_t begin, std::int64_t end) HWY_ATTR {
    std::memset(y[s], 0, static_cast<std::size_t>(y.width) * sizeof(float));
    if (begin == end) return;
    for (std::int64_t t = begin; t < end; ++t)
      map(
          x.width, y[s], [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); }, y[s], x[t]);
    const auto factor = hn::Set(F32(), 1.0f / static_cast<float>(end - begin));
    map(
        x.width, y[s], [&](auto v) HWY_ATTR { return hn::Mul(v, factor); }, y[s]);
  });
}

void segment_mean_backward(Rows<const float> dy, Starts starts, Rows<float> dx) {
  for_segments(starts, dx.width, [&](std::int64_t s, std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t t = begin; t < end; ++t)
      add_scaled(dx.width, 1.0f / static_cast<float>(end - begin), dy[s], dx[t]);
  });
}

void segment_max(Rows<const float> x, Starts starts, Rows<float> y, Rows<std::int64_t> where) {
  for_segments(starts, x.width, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = 0; c < x.width; ++c) {
      y[s][c] = begin < end ? x[begin][c] : 0.0f;
      where[s][c] = begin < end ? begin : -1;
    }
    for (std::int64_t t = begin + 1; t < end; ++t)
      for (std::int64_t c = 0; c < x.width; ++c)
        if (x[t][c] > y[s][c] || (std::isnan(x[t][c]) && !std::isnan(y[s][c]))) {
          y[s][c] = x[t][c];
          where[s][c] = t;
        }
  });
}

void segment_softmax(const float* scores, Starts starts, float* weights) {
  for_segments(starts, 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) HWY_ATTR {
    if (begin == end) return;
    float largest = -std::numeric_limits<float>::infinity(), sum = 0;
    for (std::int64_t t = begin; t < end; ++t) largest = std::max(largest, scores[t]);
    const auto shift = hn::Set(F32(), largest);
    map(
        end - begin, weights + begin, [&](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), hn::Sub(v, shift)); },
        scores + begin);
    for (std::int64_t t = begin; t < end; ++t) sum += weights[t];
    for (std::int64_t t = begin; t < end; ++t) weights[t] /= sum;
  });
}

void segment_weighted_sum(const float* weights, Rows<const float> x, Starts starts, Rows<float> y) {
  for_segments(starts, x.width, [&](std::int64_t s, std::int64_t begin, std::int64_t end) HWY_ATTR {
    std::memset(y[s], 0, static_cast<std::size_t>(y.width) * sizeof(float));
    for (std::int64_t t = begin; t < end; ++t) add_scaled(x.width, weights[t], x[t], y[s]);
  });
}

void softmax_pool_backward(const float* weights, Rows<const float> x, Starts starts, Rows<const float> dy,
                           SoftmaxPoolGradient<float> d) {
  for_segments(starts, x.width, [&](std::int64_t s, std::int64_t begin, std::int64_t end) HWY_ATTR {
    if (begin == end) return;
    if (d.x.data)
      for (std::int64_t t = begin; t < end; ++t) add_scaled(x.width, weights[t], dy[s], d.x[t]);
    if (d.scores.empty()) return;
    // With a[t] = dy[s] . x[t]: dscores[t] = weights[t] (a[t] - sum over u of weights[u] a[u]).
    Workspace<float> products(end - begin);
    float mean = 0;
    for (std::int64_t t = begin; t < end; ++t) {
      products.data()[t - begin] = sum_of(
          x.width, [](auto p, auto q) HWY_ATTR { return hn::Mul(p, q); }, dy[s], x[t]);
      mean += weights[t] * products.data()[t - begin];
    }
    for (std::int64_t t = begin; t < end; ++t)
      d.scores[static_cast<std::size_t>(t)] += weights[t] * (products.data()[t - begin] - mean);
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(segment_mean);
HWY_EXPORT(segment_mean_backward);
HWY_EXPORT(segment_max);
HWY_EXPORT(segment_softmax);
HWY_EXPORT(segment_weighted_sum);
HWY_EXPORT(softmax_pool_backward);

void segment_mean(Rows<const float> x, std::span<const std::int64_t> starts, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(segment_mean)(x, starts, y);
}
void segment_mean_backward(Rows<const float> dy, std::span<const std::int64_t> starts, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(segment_mean_backward)(dy, starts, dx);
}
void segment_max(Rows<const float> x, std::span<const std::int64_t> starts, Rows<float> y, Rows<std::int64_t> where) {
  HWY_DYNAMIC_DISPATCH(segment_max)(x, starts, y, where);
}
void segment_max_backward(Rows<const float> dy, Rows<const std::int64_t> where, Rows<float> dx) {
  for (std::int64_t s = 0; s < dy.count; ++s)
    for (std::int64_t c = 0; c < dy.width; ++c)
      if (where[s][c] >= 0) dx[where[s][c]][c] += dy[s][c];
}
void segment_softmax(std::span<const float> scores, std::span<const std::int64_t> starts, std::span<float> weights) {
  HWY_DYNAMIC_DISPATCH(segment_softmax)(scores.data(), starts, weights.data());
}
void segment_weighted_sum(std::span<const float> weights, Rows<const float> x, std::span<const std::int64_t> starts,
                          Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(segment_weighted_sum)(weights.data(), x, starts, y);
}
void softmax_pool_backward(std::span<const float> weights, Rows<const float> x, std::span<const std::int64_t> starts,
                           Rows<const float> dy, SoftmaxPoolGradient<float> d) {
  HWY_DYNAMIC_DISPATCH(softmax_pool_backward)(weights.data(), x, starts, dy, d);
}

}  // namespace attune::kernels
#endif
