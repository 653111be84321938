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

/// f(x[i]..., u, v) gives a[i] = u and b[i] = v, for n values.
template <class F, class... In>
HWY_INLINE void map_to_two(std::int64_t n, float* a, float* b, const F& f, const In*... x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<F32> u, v;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    f(hn::LoadU(d, x + i)..., u, v);
    hn::StoreU(u, d, a + i);
    hn::StoreU(v, d, b + i);
  }
  if (i < n) {
    f(load_tail(x + i, n - i)..., u, v);
    store_tail(u, a + i, n - i);
    store_tail(v, b + i, n - i);
  }
}

/// Calls piece(row, first column, columns) in parallel until all of a matrix is done: of row 0 as one long row where
/// `flat`.
template <class Piece>
HWY_INLINE void for_pieces(std::int64_t rows, std::int64_t width, bool flat, const Piece& piece) {
  if (rows == 0 || width == 0) return;
  const std::int64_t count = flat ? rows * width : rows;
  const std::int64_t grain = flat ? elementwise_grain : std::max<std::int64_t>(1, elementwise_grain / width);
  parallel(count, grain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    const std::int64_t last = flat ? 1 : end;
    for (std::int64_t t = flat ? 0 : begin; t < last; ++t) piece(t, flat ? begin : 0, flat ? end - begin : width);
  });
}

/// map() over matrices of one size, in parallel.
template <class F, class... In>
HWY_INLINE void map_rows(Rows<float> y, const F& f, const In&... x) {
  const bool flat = y.stride == y.width && (... && (x.stride == x.width));
  for_pieces(y.count, y.width, flat,
             [&](std::int64_t t, std::int64_t c, std::int64_t n) HWY_ATTR { map(n, y[t] + c, f, x[t] + c...); });
}
template <class F, class... In>
HWY_INLINE void map_rows_to_two(Rows<float> a, Rows<float> b, const F& f, const In&... x) {
  const bool flat = a.stride == a.width && b.stride == b.width && (... && (x.stride == x.width));
  for_pieces(a.count, a.width, flat, [&](std::int64_t t, std::int64_t c, std::int64_t n) HWY_ATTR {
    map_to_two(n, a[t] + c, b[t] + c, f, x[t] + c...);
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
