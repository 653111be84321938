#include "attune/kernels/cpu/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// A row's numbers, in runs of philox_batch, are made just before they are used: nothing is stored beyond the first
/// cache.
template <class Combine>
HWY_INLINE void drop_row(const DropoutRule& rule, std::int64_t t, std::int64_t width, const Combine& combine) {
  const F32 d;
  const hn::RebindToUnsigned<F32> bits;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto row = static_cast<std::size_t>(t);
  const auto threshold = hn::Set(bits, drop_threshold(rule.rate));
  const auto factor = hn::Set(d, static_cast<float>(1 / (1 - rule.rate)));
  HWY_ALIGN std::uint32_t numbers[philox_batch];
  for (std::int64_t c = 0; c < width; c += philox_batch) {
    philox_blocks(rule.key, static_cast<std::uint64_t>(rule.examples[row]),
                  static_cast<std::uint32_t>(rule.positions[row]), static_cast<std::uint32_t>(c / 4), numbers);
    const std::int64_t end = std::min(width, c + philox_batch);
    for (std::int64_t i = c; i < end; i += lanes) {
      const auto dropped = hn::RebindMask(d, hn::Lt(hn::Load(bits, numbers + (i - c)), threshold));
      combine(i, std::min(lanes, end - i), hn::IfThenZeroElse(dropped, factor));
    }
  }
}

/// y = keep x, plus residual if there is one.
void dropout(Rows<const float> x, const float* residual, std::int64_t residual_stride, const DropoutRule& rule,
             Rows<float> y) {
  if (y.width == 0) return;
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  parallel(y.count, std::max<std::int64_t>(1, (elementwise_grain / 4) / y.width),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t) {
               const float* from = x[t];
               const float* beside = residual ? residual + t * residual_stride : nullptr;
               float* into = y[t];
               drop_row(rule, t, y.width, [&](std::int64_t i, std::int64_t n, auto factor) HWY_ATTR {
                 const bool whole = n == lanes;
                 auto v = hn::Mul(factor, whole ? hn::LoadU(d, from + i) : load_tail(from + i, n));
                 if (beside) v = hn::Add(whole ? hn::LoadU(d, beside + i) : load_tail(beside + i, n), v);
                 if (whole) {
                   hn::StoreU(v, d, into + i);
                 } else {
                   store_tail(v, into + i, n);
                 }
               });
             }
           });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(dropout);

void dropout(Rows<const float> x, const DropoutRule& rule, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(dropout)(x, nullptr, 0, rule, y);
}
void dropout_add(Rows<const float> x, Rows<const float> residual, const DropoutRule& rule, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(dropout)(x, residual.data, residual.stride, rule, y);
}

}  // namespace attune::kernels
#endif
