#include "attune/kernels/cpu/rotary.h"

#include <algorithm>
#include <cstring>

#include "attune/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/rotary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Pairs i .. i + lanes of one head.
template <class D>
HWY_INLINE void turn(D d, const float* in, const float* cos, const float* sin, const Rotation<float>& r, std::int64_t i,
                     float* out) {
  const auto c = hn::LoadU(d, cos + i);
  const auto s = r.inverse ? hn::Neg(hn::LoadU(d, sin + i)) : hn::LoadU(d, sin + i);
  hn::Vec<D> a, b;
  if (r.pairing == RotaryPairing::half_split)
    a = hn::LoadU(d, in + i), b = hn::LoadU(d, in + r.half + i);
  else
    hn::LoadInterleaved2(d, in + 2 * i, a, b);
  const auto turned_a = hn::NegMulAdd(b, s, hn::Mul(a, c)), turned_b = hn::MulAdd(a, s, hn::Mul(b, c));
  if (r.pairing == RotaryPairing::half_split)
    hn::StoreU(turned_a, d, out + i), hn::StoreU(turned_b, d, out + r.half + i);
  else
    hn::StoreInterleaved2(turned_a, turned_b, d, out + 2 * i);
}

void rotate_tokens(const HeadRows<const float>& x, const Rotation<float>& r, const HeadRows<float>& y,
                   std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1>
      one;  // the tail's arithmetic is the same, so a pair's bits do not depend on the vector's width
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t t = begin; t < end; ++t) {
    const float *cos = r.cos + t * r.half, *sin = r.sin + t * r.half;
    for (std::int64_t h = 0; h < x.heads; ++h) {
      const float* in = x.at(t, h);
      float* out = y.at(t, h);
      std::int64_t i = 0;
      for (; i + lanes <= r.half; i += lanes) turn(d, in, cos, sin, r, i, out);
      for (; i < r.half; ++i) turn(one, in, cos, sin, r, i, out);
      std::memcpy(out + 2 * r.half, in + 2 * r.half, static_cast<std::size_t>(x.width - 2 * r.half) * sizeof(float));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(rotate_tokens);

void rotary(const HeadRows<const float>& x, const Rotation<float>& r, const HeadRows<float>& y) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, x.heads * x.width));
  parallel(r.tokens, grain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(rotate_tokens)(x, r, y, begin, end);
  });
}

}  // namespace attune::kernels
#endif
