#include "attune/kernels/cpu/softmax.h"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// Calls row(t) for every row in parallel.
template <class Row>
HWY_INLINE void for_each_row(std::int64_t rows, std::int64_t width, const Row& row) {
  if (width == 0) return;
  parallel(rows, std::max<std::int64_t>(1, elementwise_grain / width),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) row(t);
           });
}

void softmax(Rows<const float> x, Rows<float> y) {
  for_each_row(x.count, x.width, [&](std::int64_t t) HWY_ATTR {
    const float most = largest_of(x.width, x[t]);
    if (std::isinf(most) && most < 0) {
      // Nothing to choose from, unless a NaN hides among the -infinities: then its exponential shows it.
      map(
          x.width, y[t], [](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), v); }, x[t]);
      return;
    }
    const auto shift = hn::Set(F32(), most);
    map(
        x.width, y[t], [&](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), hn::Sub(v, shift)); }, x[t]);
    const float sum = sum_of(
        x.width, [](auto v) HWY_ATTR { return v; }, static_cast<const float*>(y[t]));
    const auto factor = hn::Set(F32(), 1.0f / sum);
    map(
        x.width, y[t], [&](auto v) HWY_ATTR { return hn::Mul(v, factor); }, static_cast<const float*>(y[t]));
  });
}

void softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx) {
  for_each_row(y.count, y.width, [&](std::int64_t t) HWY_ATTR {
    const auto sum = hn::Set(F32(), sum_of(
                                        y.width, [](auto p, auto q) HWY_ATTR { return hn::Mul(p, q); }, y[t], dy[t]));
    map(
        y.width, dx[t], [&](auto p, auto g) HWY_ATTR { return hn::Mul(p, hn::Sub(g, sum)); }, y[t], dy[t]);
  });
}

void log_softmax(Rows<const float> x, Rows<float> y) {
  for_each_row(x.count, x.width, [&](std::int64_t t) HWY_ATTR {
    const float most = largest_of(x.width, x[t]);
    const auto shift = hn::Set(F32(), most);
    const float sum = sum_of(
        x.width, [&](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), hn::Sub(v, shift)); }, x[t]);
    const auto log_sum = hn::Set(F32(), std::log(sum));
    map(
        x.width, y[t], [&](auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, shift), log_sum); }, x[t]);
  });
}

void log_softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx) {
  for_each_row(y.count, y.width, [&](std::int64_t t) HWY_ATTR {
    const auto sum = hn::Set(F32(), sum_of(
                                        y.width, [](auto g) HWY_ATTR { return g; }, dy[t]));
    map(
        y.width, dx[t], [&](auto v, auto g) HWY_ATTR { return hn::NegMulAdd(math::exp_nonpositive(F32(), v), sum, g); },
        y[t], dy[t]);
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(softmax);
HWY_EXPORT(softmax_backward);
HWY_EXPORT(log_softmax);
HWY_EXPORT(log_softmax_backward);

void softmax(Rows<const float> x, Rows<float> y) { HWY_DYNAMIC_DISPATCH(softmax)(x, y); }
void softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(softmax_backward)(y, dy, dx);
}
void log_softmax(Rows<const float> x, Rows<float> y) { HWY_DYNAMIC_DISPATCH(log_softmax)(x, y); }
void log_softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(log_softmax_backward)(y, dy, dx);
}

}  // namespace attune::kernels
#endif
