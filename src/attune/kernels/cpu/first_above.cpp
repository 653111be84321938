#include "attune/kernels/cpu/first_above.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/first_above.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

std::int64_t first_above(const float* x, std::int64_t n, float bound, std::int64_t i) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto least = hn::Set(d, bound);
  for (; i + 4 * lanes <= n; i += 4 * lanes) {  // most have none
    const auto a = hn::Or(hn::Gt(hn::LoadU(d, x + i), least), hn::Gt(hn::LoadU(d, x + i + lanes), least));
    const auto b =
        hn::Or(hn::Gt(hn::LoadU(d, x + i + 2 * lanes), least), hn::Gt(hn::LoadU(d, x + i + 3 * lanes), least));
    if (!hn::AllFalse(d, hn::Or(a, b))) break;
  }
  for (; i < n; ++i)
    if (x[i] > bound) break;
  return i;
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(first_above);

std::int64_t first_above(std::span<const float> x, float bound, std::int64_t begin) {
  return HWY_DYNAMIC_DISPATCH(first_above)(x.data(), static_cast<std::int64_t>(x.size()), bound, begin);
}

}  // namespace attune::kernels
#endif
