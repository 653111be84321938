#include "attune/kernels/cpu/retrieved_attention.h"

#include <cmath>
#include <limits>

#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/retrieved_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// Calls row(r) for every (token, head); its keys lie anywhere in memory, so that rows are all that is worth cutting.
template <class Row>
HWY_INLINE void for_each_query(const RetrievedProblem<float>& p, const Row& row) {
  const std::int64_t work = std::max<std::int64_t>(1, p.count * (p.q.width + p.value_width));
  parallel(p.tokens * p.q.heads, std::max<std::int64_t>(1, elementwise_grain / work),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t r = begin; r < end; ++r) row(r);
           });
}

HWY_INLINE float product_of(const float* a, const float* b, std::int64_t n) {
  return sum_of(
      n, [](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}

/// into += factor * x.
HWY_INLINE void add_scaled(std::int64_t n, float factor, const float* x, float* into) {
  const auto f = hn::Set(F32(), factor);
  map(
      n, into, [&](auto a, auto b) HWY_ATTR { return hn::MulAdd(f, a, b); }, x, static_cast<const float*>(into));
}

void retrieved_attention(const RetrievedProblem<float>& p, float* weights, HeadRows<float> y) {
  const auto scale = static_cast<float>(p.scale);
  for_each_query(p, [&](std::int64_t row) HWY_ATTR {
    const float* const* keys = p.keys + row * p.count;
    const float* const* values = p.values + row * p.count;
    const float* q = p.q.at(row / p.q.heads, row % p.q.heads);
    float* w = weights + row * p.count;
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < p.count; ++i) {
      w[i] = keys[i] ? scale * product_of(q, keys[i], p.q.width) : -std::numeric_limits<float>::infinity();
      most = std::max(most, w[i]);
    }
    float* out = y.at(row / p.q.heads, row % p.q.heads);
    std::fill(out, out + p.value_width, 0.0f);
    if (std::isinf(most) && most < 0) most = 0;  // no key: all weights are exp(-infinity)
    const auto shift = hn::Set(F32(), most);
    map(
        p.count, w, [&](auto s) HWY_ATTR { return math::exp_nonpositive(F32(), hn::Sub(s, shift)); },
        static_cast<const float*>(w));
    float sum = 0;
    for (std::int64_t i = 0; i < p.count; ++i) sum += w[i];
    for (std::int64_t i = 0; i < p.count; ++i) {
      if (!keys[i]) continue;
      w[i] /= sum;
      add_scaled(p.value_width, w[i], values[i], out);
    }
  });
}

void retrieved_attention_backward(const RetrievedProblem<float>& p, const float* weights, HeadRows<const float> dy,
                                  HeadRows<float> dq) {
  const auto scale = static_cast<float>(p.scale);
  for_each_query(p, [&](std::int64_t row) HWY_ATTR {
    Scratch scratch;
    float* dw = scratch.take(std::max<std::int64_t>(1, p.count));
    const float* const* keys = p.keys + row * p.count;
    const float* w = weights + row * p.count;
    const float* d = dy.at(row / p.q.heads, row % p.q.heads);
    float* out = dq.at(row / p.q.heads, row % p.q.heads);
    float mean = 0;  // dL/dscore_i = w_i (dL/dw_i - sum_j w_j dL/dw_j)
    for (std::int64_t i = 0; i < p.count; ++i) {
      if (!keys[i]) continue;
      dw[i] = product_of(d, p.values[row * p.count + i], p.value_width);
      mean += w[i] * dw[i];
    }
    std::fill(out, out + p.q.width, 0.0f);
    for (std::int64_t i = 0; i < p.count; ++i)
      if (keys[i]) add_scaled(p.q.width, scale * w[i] * (dw[i] - mean), keys[i], out);
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(retrieved_attention);
HWY_EXPORT(retrieved_attention_backward);

void retrieved_attention(const RetrievedProblem<float>& problem, float* weights, HeadRows<float> y) {
  HWY_DYNAMIC_DISPATCH(retrieved_attention)(problem, weights, y);
}
void retrieved_attention_backward(const RetrievedProblem<float>& problem, const float* weights,
                                  HeadRows<const float> dy, HeadRows<float> dq) {
  HWY_DYNAMIC_DISPATCH(retrieved_attention_backward)(problem, weights, dy, dq);
}

}  // namespace attune::kernels
#endif
