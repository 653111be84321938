// Per-target include guard, as Highway wants it: this file is compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_ELEMENTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_ELEMENTWISE_INL_H
#undef ATTUNE_KERNELS_CPU_ELEMENTWISE_INL_H
#else
#define ATTUNE_KERNELS_CPU_ELEMENTWISE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "attune/base/threads.h"
#include "attune/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;

/// Values that one thread takes at a time: enough that waking it is nothing beside the work.
constexpr std::int64_t elementwise_grain = 1 << 15;

/// The last `n` < lanes values, and whatever beside them: results are the same as in the middle of a row.
HWY_INLINE hn::Vec<F32> load_tail(const float* x, std::int64_t n) {
  const F32 d;
  HWY_ALIGN float padded[hn::MaxLanes(F32())] = {};
  for (std::int64_t i = 0; i < n; ++i) padded[i] = x[i];
  return hn::Load(d, padded);
}
HWY_INLINE void store_tail(hn::Vec<F32> v, float* y, std::int64_t n) {
  const F32 d;
  HWY_ALIGN float padded[hn::MaxLanes(F32())];
  hn::Store(v, d, padded);
  for (std::int64_t i = 0; i < n; ++i) y[i] = padded[i];
}

/// y[i] = f(x[i]...) for n values.
template <class F, class... In>
HWY_INLINE void map(std::int64_t n, float* y, const F& f, const In*... x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)...), d, y + i);
  if (i < n) store_tail(f(load_tail(x + i, n - i)...), y + i, n - i);
}

/// The same over matrices, in parallel: as one long row where all are contiguous.
template <class F, class... In>
HWY_INLINE void map_rows(Rows<float> y, const F& f, const In&... x) {
  if (y.width == 0 || y.count == 0) return;
  if (y.stride == y.width && (... && (x.stride == x.width))) {
    parallel(y.count * y.width, elementwise_grain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      map(end - begin, y.data + begin, f, x.data + begin...);
    });
  } else {
    parallel(y.count, std::max<std::int64_t>(1, elementwise_grain / y.width),
             [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
               for (std::int64_t t = begin; t < end; ++t) map(y.width, y[t], f, x[t]...);
             });
  }
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
