#include "attune/kernels/cpu/combine_rows.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/combine_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// into += factor * x for one row.
HWY_INLINE void add_weighted(std::int64_t n, float factor, const float* x, float* into) {
  const auto f = hn::Set(F32(), factor);
  map(
      n, into, [&](auto sum, auto v) HWY_ATTR { return hn::MulAdd(f, v, sum); }, into, x);
}

/// Rows of `width` values, k terms each, that one thread takes at a time.
HWY_INLINE std::int64_t row_grain(std::int64_t width, std::int64_t k) {
  return std::max<std::int64_t>(1, elementwise_grain / std::max<std::int64_t>(1, width * k));
}

void combine_rows(Rows<const float> x, const RowCombination<float>& by, Rows<float> y) {
  parallel(y.count, row_grain(y.width, by.weights.width), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t t = begin; t < end; ++t) {
      std::memset(y[t], 0, static_cast<std::size_t>(y.width) * sizeof(float));
      for (std::int64_t j = 0; j < by.weights.width; ++j)
        add_weighted(y.width, by.weights[t][j], x[by.index(t, j)], y[t]);
    }
  });
}

void combine_rows_backward(Rows<const float> x, const RowCombination<float>& by, Rows<const float> dy,
                           RowCombinationGradient<float> d) {
  const std::int64_t k = by.weights.width;
  if (d.weights.data)
    parallel(dy.count, row_grain(dy.width, k), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      for (std::int64_t t = begin; t < end; ++t)
        for (std::int64_t j = 0; j < k; ++j)
          d.weights[t][j] += sum_of(
              dy.width, [](auto p, auto q) HWY_ATTR { return hn::Mul(p, q); }, dy[t], x[by.index(t, j)]);
    });
  if (!d.x.data) return;
  // Each piece owns a range of x's rows and looks through all indices, so that every row gets its terms in order.
  constexpr std::int64_t pieces = 16;
  parallel(d.x.count, (d.x.count + pieces - 1) / pieces, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t t = 0; t < dy.count; ++t)
      for (std::int64_t j = 0; j < k; ++j) {
        const std::int64_t row = by.index(t, j);
        if (row >= begin && row < end) add_weighted(dy.width, by.weights[t][j], dy[t], d.x[row]);
      }
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(combine_rows);
HWY_EXPORT(combine_rows_backward);

void combine_rows(Rows<const float> x, const RowCombination<float>& by, Rows<float> y) {
  if (y.count == 0 || y.width == 0) return;
  HWY_DYNAMIC_DISPATCH(combine_rows)(x, by, y);
}
void combine_rows_backward(Rows<const float> x, const RowCombination<float>& by, Rows<const float> dy,
                           RowCombinationGradient<float> d) {
  if (dy.count == 0 || x.count == 0) return;
  HWY_DYNAMIC_DISPATCH(combine_rows_backward)(x, by, dy, d);
}

}  // namespace attune::kernels
#endif
