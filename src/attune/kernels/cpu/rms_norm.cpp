#include "attune/kernels/cpu/rms_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/rms_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

void rms_norm(Rows<const float> x, const float* weight, float epsilon, Rows<float> y, float* inverse) {
  if (x.width == 0) return;
  parallel(x.count, std::max<std::int64_t>(1, elementwise_grain / x.width),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               const float sum = sum_of(
                   x.width, [](auto v) HWY_ATTR { return hn::Mul(v, v); }, x[t]);
               inverse[t] = 1.0f / std::sqrt(sum / static_cast<float>(x.width) + epsilon);
               const auto i = hn::Set(F32(), inverse[t]);
               map(
                   x.width, y[t], [&](auto v, auto w) HWY_ATTR { return hn::Mul(hn::Mul(v, i), w); }, x[t], weight);
             }
           });
}

void rms_norm_backward(Rows<const float> x, const float* weight, const float* inverse, Rows<const float> dy,
                       NormGradient<float> d) {
  const F32 f;
  const std::int64_t width = x.width;
  Workspace<float> unwanted(d.weight.empty() ? width : 0);
  float* dweight = d.weight.empty() ? unwanted.data() : d.weight.data();
  sum_blocks_of_rows(x.count, width, width, dweight, [&](std::int64_t begin, std::int64_t end, float* own) HWY_ATTR {
    for (std::int64_t t = begin; t < end; ++t) {
      const auto i = hn::Set(f, inverse[t]);
      if (!d.weight.empty())
        map(
            width, own, [&](auto v, auto g, auto sum) HWY_ATTR { return hn::MulAdd(g, hn::Mul(v, i), sum); }, x[t],
            dy[t], static_cast<const float*>(own));
      if (!d.x.data) continue;
      const auto times_h = [&](auto g, auto w, auto v) HWY_ATTR { return hn::Mul(hn::Mul(g, w), hn::Mul(v, i)); };
      const auto mean_gh = hn::Set(f, sum_of(width, times_h, dy[t], weight, x[t]) / static_cast<float>(width));
      map(
          width, d.x[t],
          [&](auto g, auto w, auto v)
              HWY_ATTR { return hn::Mul(i, hn::NegMulAdd(hn::Mul(v, i), mean_gh, hn::Mul(g, w))); },
          dy[t], weight, x[t]);
    }
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(rms_norm);
HWY_EXPORT(rms_norm_backward);

void rms_norm(Rows<const float> x, std::span<const float> weight, double epsilon, Rows<float> y,
              std::span<float> inverse) {
  HWY_DYNAMIC_DISPATCH(rms_norm)(x, weight.data(), static_cast<float>(epsilon), y, inverse.data());
}
void rms_norm_backward(Rows<const float> x, std::span<const float> weight, std::span<const float> inverse,
                       Rows<const float> dy, NormGradient<float> d) {
  HWY_DYNAMIC_DISPATCH(rms_norm_backward)(x, weight.data(), inverse.data(), dy, d);
}

}  // namespace attune::kernels
#endif
