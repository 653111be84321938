// Per-target include guard, as Highway wants it: this file is compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_REDUCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_REDUCE_INL_H
#undef ATTUNE_KERNELS_CPU_REDUCE_INL_H
#else
#define ATTUNE_KERNELS_CPU_REDUCE_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

// Sums in a fixed order: blocks whose size follows from the problem's alone, each summed by itself, then added in their
// order. Neither threads nor the way that parallel() hands out pieces shows in a bit.

using F64 = hn::ScalableTag<double>;

/// Sum over i of f(x[i]) in f64, for n values. f maps a vector of f64.
template <class F>
HWY_INLINE double sum_block(std::int64_t n, const float* x, const F& f) {
  const F64 d;
  const hn::Rebind<float, F64> half;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, f(hn::PromoteTo(d, hn::LoadU(half, x + i))));
    b = hn::Add(b, f(hn::PromoteTo(d, hn::LoadU(half, x + i + lanes))));
    c = hn::Add(c, f(hn::PromoteTo(d, hn::LoadU(half, x + i + 2 * lanes))));
    e = hn::Add(e, f(hn::PromoteTo(d, hn::LoadU(half, x + i + 3 * lanes))));
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) {
    HWY_ALIGN double one[hn::MaxLanes(F64())] = {};
    one[0] = static_cast<double>(x[i]);
    total += hn::GetLane(f(hn::Load(d, one)));
  }
  return total;
}

/// The same over any number of values, in parallel.
template <class F>
HWY_INLINE double sum_values(std::int64_t n, const float* x, const F& f) {
  constexpr std::int64_t block = elementwise_grain;
  std::int64_t blocks = (n + block - 1) / block;
  if (blocks <= 1) return sum_block(n, x, f);
  Workspace<double> partial(blocks);
  double* sums = partial.data();
  parallel(blocks, 1, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t b = begin; b < end; ++b) sums[b] = sum_block(std::min(block, n - b * block), x + b * block, f);
  });
  double total = 0;
  for (std::int64_t b = 0; b < blocks; ++b) total += sums[b];
  return total;
}

/// Rows that are summed up by themselves before the blocks' sums are added.
inline std::int64_t rows_in_block(std::int64_t width) {
  return std::max<std::int64_t>(8, elementwise_grain / std::max<std::int64_t>(width, 1));
}

/// Lets add_rows(begin, end, sums) add rows [begin, end) to its own zeroed `sums` [sums_width], for each block of rows
/// in parallel, then adds the blocks' sums to `into` [sums_width] in order.
template <class F>
HWY_INLINE void sum_blocks_of_rows(std::int64_t rows, std::int64_t width, std::int64_t sums_width, float* into,
                                   const F& add_rows) {
  if (rows == 0 || sums_width == 0) return;
  std::int64_t block = rows_in_block(width), blocks = (rows + block - 1) / block;
  Workspace<float> partial(blocks * sums_width);
  float* sums = partial.data();  // [blocks, sums_width]
  parallel(blocks, 1, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t b = begin; b < end; ++b) {
      float* own = sums + b * sums_width;
      std::memset(own, 0, static_cast<std::size_t>(sums_width) * sizeof(float));
      add_rows(b * block, std::min(rows, (b + 1) * block), own);
    }
  });
  const auto plus = [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); };
  for (std::int64_t b = 1; b < blocks; ++b) map(sums_width, sums, plus, sums, sums + b * sums_width);
  map(sums_width, into, plus, into, sums);
}

/// Sum over i of f(x[i]...) in f32, for n values: four chains, so that additions overlap.
template <class F, class... In>
HWY_INLINE float sum_of(std::int64_t n, const F& f, const In*... x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, f(hn::LoadU(d, x + i)...));
    b = hn::Add(b, f(hn::LoadU(d, x + i + lanes)...));
    c = hn::Add(c, f(hn::LoadU(d, x + i + 2 * lanes)...));
    e = hn::Add(e, f(hn::LoadU(d, x + i + 3 * lanes)...));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, f(hn::LoadU(d, x + i)...));
  if (i < n)
    b = hn::Add(b, hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(n - i)), f(load_tail(x + i, n - i)...)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// The largest of n values; -infinity of none. A NaN may or may not be passed over.
HWY_INLINE float largest_of(std::int64_t n, const float* x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto a = lowest, b = lowest;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
  }
  for (; i < n; i += lanes) {
    const std::int64_t rest = std::min(lanes, n - i);
    b = hn::Max(b, hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(rest)), load_tail(x + i, rest), lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
