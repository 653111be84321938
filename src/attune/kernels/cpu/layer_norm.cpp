#include "attune/kernels/cpu/layer_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

void layer_norm(Rows<const float> x, Affine<float> affine, float epsilon, Rows<float> y, RowStatistics<float> kept) {
  if (x.width == 0) return;
  const F32 d;
  parallel(x.count, std::max<std::int64_t>(1, elementwise_grain / x.width),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               const float mean = sum_of(
                                      x.width, [](auto v) HWY_ATTR { return v; }, x[t]) /
                                  static_cast<float>(x.width);
               const auto m = hn::Set(d, mean);
               const auto squared = [&](auto v) HWY_ATTR {
                 const auto centred = hn::Sub(v, m);
                 return hn::Mul(centred, centred);
               };
               const float variance = sum_of(x.width, squared, x[t]) / static_cast<float>(x.width);
               const float inverse = 1.0f / std::sqrt(variance + epsilon);
               const auto i = hn::Set(d, inverse);
               map(
                   x.width, y[t],
                   [&](auto v, auto w, auto b) HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, m), i), w, b); }, x[t],
                   affine.weight.data(), affine.bias.data());
               kept.mean[static_cast<std::size_t>(t)] = mean;
               kept.inverse[static_cast<std::size_t>(t)] = inverse;
             }
           });
}

void layer_norm_backward(Rows<const float> x, const float* weight, RowStatistics<float> kept, Rows<const float> dy,
                         NormGradient<float> d) {
  const F32 f;
  const std::int64_t width = x.width;
  const bool parameters = !d.weight.empty() || !d.bias.empty();
  // One pass: a row's dx while its x and dy are near, and its terms of the parameters' sums. Sums: dweight, then dbias.
  Workspace<float> sums(2 * width);
  std::memset(sums.data(), 0, static_cast<std::size_t>(2 * width) * sizeof(float));
  sum_blocks_of_rows(
      x.count, width, 2 * width, sums.data(), [&](std::int64_t begin, std::int64_t end, float* own) HWY_ATTR {
        for (std::int64_t t = begin; t < end; ++t) {
          const float inverse = kept.inverse[static_cast<std::size_t>(t)];
          const auto m = hn::Set(f, kept.mean[static_cast<std::size_t>(t)]), i = hn::Set(f, inverse);
          if (parameters)
            map_to_two(
                width, own, own + width,
                [&](auto v, auto g, auto dw, auto db, auto& new_dw, auto& new_db) HWY_ATTR {
                  new_dw = hn::MulAdd(g, hn::Mul(hn::Sub(v, m), i), dw);
                  new_db = hn::Add(db, g);
                },
                x[t], dy[t], static_cast<const float*>(own), static_cast<const float*>(own + width));
          if (!d.x.data) continue;
          const auto times_weight = [](auto g, auto w) HWY_ATTR { return hn::Mul(g, w); };
          const auto times_h = [&](auto g, auto w, auto v)
                                   HWY_ATTR { return hn::Mul(hn::Mul(g, w), hn::Mul(hn::Sub(v, m), i)); };
          const auto mean_g = hn::Set(f, sum_of(width, times_weight, dy[t], weight) / static_cast<float>(width));
          const auto mean_gh = hn::Set(f, sum_of(width, times_h, dy[t], weight, x[t]) / static_cast<float>(width));
          map(
              width, d.x[t],
              [&](auto g, auto w, auto v) HWY_ATTR {
                const auto h = hn::Mul(hn::Sub(v, m), i);
                return hn::Mul(i, hn::NegMulAdd(h, mean_gh, hn::Sub(hn::Mul(g, w), mean_g)));
              },
              dy[t], weight, x[t]);
        }
      });
  const auto plus = [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); };
  if (!d.weight.empty()) map(width, d.weight.data(), plus, d.weight.data(), sums.data());
  if (!d.bias.empty()) map(width, d.bias.data(), plus, d.bias.data(), sums.data() + width);
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(layer_norm);
HWY_EXPORT(layer_norm_backward);

void layer_norm(Rows<const float> x, Affine<float> affine, double epsilon, Rows<float> y, RowStatistics<float> kept) {
  HWY_DYNAMIC_DISPATCH(layer_norm)(x, affine, static_cast<float>(epsilon), y, kept);
}
void layer_norm_backward(Rows<const float> x, std::span<const float> weight, RowStatistics<float> kept,
                         Rows<const float> dy, NormGradient<float> d) {
  HWY_DYNAMIC_DISPATCH(layer_norm_backward)(x, weight.data(), kept, dy, d);
}

}  // namespace attune::kernels
#endif
