#include "attune/kernels/cpu/adamw.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/adamw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// The rule's numbers as f32, each made in f64 first.
struct Constants {
  float decay, one_minus_beta1, beta2, one_minus_beta2, epsilon, step_size, inverse_root, gradient_factor;
};

struct Moments {
  hn::Vec<F32> parameter, first, second;
};

HWY_INLINE Moments step_of(const Constants& k, Moments now, hn::Vec<F32> gradient) {
  const F32 d;
  const auto g = hn::Mul(gradient, hn::Set(d, k.gradient_factor));
  const auto m = hn::MulAdd(hn::Set(d, k.one_minus_beta1), hn::Sub(g, now.first), now.first);
  const auto v = hn::MulAdd(hn::Mul(hn::Set(d, k.one_minus_beta2), g), g, hn::Mul(hn::Set(d, k.beta2), now.second));
  const auto root = hn::MulAdd(hn::Sqrt(v), hn::Set(d, k.inverse_root), hn::Set(d, k.epsilon));
  const auto p = hn::Mul(now.parameter, hn::Set(d, k.decay));
  return {hn::NegMulAdd(hn::Set(d, k.step_size), hn::Div(m, root), p), m, v};
}

void adamw(const AdamWRule& rule, AdamWValues<float> values) {
  const auto step = static_cast<double>(rule.step);
  const Constants k{.decay = static_cast<float>(1 - rule.learning_rate * rule.weight_decay),
                    .one_minus_beta1 = static_cast<float>(1 - rule.beta1),
                    .beta2 = static_cast<float>(rule.beta2),
                    .one_minus_beta2 = static_cast<float>(1 - rule.beta2),
                    .epsilon = static_cast<float>(rule.epsilon),
                    .step_size = static_cast<float>(rule.learning_rate / (1 - std::pow(rule.beta1, step))),
                    .inverse_root = static_cast<float>(1 / std::sqrt(1 - std::pow(rule.beta2, step))),
                    .gradient_factor = static_cast<float>(rule.gradient_factor)};
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  parallel(static_cast<std::int64_t>(values.parameter.size()), elementwise_grain / 4,
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             float *p = values.parameter.data(), *m = values.first.data(), *v = values.second.data();
             const float* g = values.gradient.data();
             std::int64_t i = begin;
             for (; i + lanes <= end; i += lanes) {
               const Moments after =
                   step_of(k, {hn::LoadU(d, p + i), hn::LoadU(d, m + i), hn::LoadU(d, v + i)}, hn::LoadU(d, g + i));
               hn::StoreU(after.parameter, d, p + i);
               hn::StoreU(after.first, d, m + i);
               hn::StoreU(after.second, d, v + i);
             }
             if (const std::int64_t n = end - i; n > 0) {
               const Moments after =
                   step_of(k, {load_tail(p + i, n), load_tail(m + i, n), load_tail(v + i, n)}, load_tail(g + i, n));
               store_tail(after.parameter, p + i, n);
               store_tail(after.first, m + i, n);
               store_tail(after.second, v + i, n);
             }
           });
}

double squared_norm(const float* x, std::int64_t n) {
  return sum_values(n, x, [](auto v) HWY_ATTR { return hn::Mul(v, v); });
}

void scale_in_place(float factor, float* x, std::int64_t n) {
  const auto f = hn::Set(F32(), factor);
  map_rows(
      Rows<float>{x, 1, n, n}, [&](auto v) HWY_ATTR { return hn::Mul(v, f); }, Rows<const float>{x, 1, n, n});
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(adamw);
HWY_EXPORT(squared_norm);
HWY_EXPORT(scale_in_place);

void adamw(const AdamWRule& rule, AdamWValues<float> values) { HWY_DYNAMIC_DISPATCH(adamw)(rule, values); }
double squared_norm(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(squared_norm)(x.data(), static_cast<std::int64_t>(x.size()));
}
void scale_in_place(double factor, std::span<float> x) {
  HWY_DYNAMIC_DISPATCH(scale_in_place)(static_cast<float>(factor), x.data(), static_cast<std::int64_t>(x.size()));
}

}  // namespace attune::kernels
#endif
