#include "attune/kernels/cpu/exponential_features.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/exponential_features.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

void exponential_features(Rows<const float> projected, Rows<const float> x, Rows<float> y) {
  const std::int64_t width = y.width;
  const float log_root = 0.5f * std::log(static_cast<float>(width));
  parallel(y.count, std::max<std::int64_t>(1, elementwise_grain / (width + x.width)),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               const float square = sum_of(
                   x.width, [](auto v) HWY_ATTR { return hn::Mul(v, v); }, x[t]);
               const auto shift = hn::Set(F32(), 0.5f * square + log_root);
               map(
                   width, y[t], [&](auto u) HWY_ATTR { return math::exp(F32(), hn::Sub(u, shift)); }, projected[t]);
             }
           });
}

void exponential_features_backward(Rows<const float> x, Rows<const float> y, Rows<const float> dy,
                                   Rows<float> dprojected, Rows<float> dx) {
  parallel(y.count, std::max<std::int64_t>(1, elementwise_grain / (y.width + x.width)),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               const auto product = [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); };
               const auto minus_sum = hn::Set(F32(), -sum_of(y.width, product, y[t], dy[t]));
               map(y.width, dprojected[t], product, y[t], dy[t]);
               map(
                   x.width, dx[t], [&](auto v) HWY_ATTR { return hn::Mul(v, minus_sum); }, x[t]);
             }
           });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(exponential_features);
HWY_EXPORT(exponential_features_backward);

void exponential_features(Rows<const float> projected, Rows<const float> x, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(exponential_features)(projected, x, y);
}
void exponential_features_backward(Rows<const float> x, Rows<const float> y, Rows<const float> dy,
                                   Rows<float> dprojected, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(exponential_features_backward)(x, y, dy, dprojected, dx);
}

}  // namespace attune::kernels
#endif
