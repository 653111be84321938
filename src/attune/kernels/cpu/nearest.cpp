#include "attune/kernels/cpu/nearest.h"

#include <cmath>
#include <limits>

#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/nearest.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

float inner_product(const float* a, const float* b, std::int64_t n) {
  return sum_of(
      n, [](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(inner_product);

float inner_product(const float* a, const float* b, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(inner_product)(a, b, n);
}

namespace {

/// The best `count` of `n` scores, in order. `order` has room for n.
void best_of(const float* scores, std::int64_t n, std::int64_t count, std::int32_t* order, std::int64_t* best) {
  for (std::int64_t j = 0; j < n; ++j) order[j] = static_cast<std::int32_t>(j);
  auto before = [scores](std::int32_t a, std::int32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  const std::int64_t found = std::min(n, count);
  if (found < n) std::nth_element(order, order + found, order + n, before);
  std::sort(order, order + found, before);
  for (std::int64_t j = 0; j < count; ++j) best[j] = j < found ? order[j] : -1;
}

}  // namespace

void nearest(const Matrix<float>& queries, const Matrix<float>& keys, std::span<const std::int64_t> visible,
             std::int64_t count, std::int64_t* best) {
  constexpr std::int64_t together = 32;  // queries that share one reading of the keys
  parallel(queries.rows, together, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t most = 0;
    for (std::int64_t i = begin; i < end; ++i)
      most = std::max(most, std::clamp<std::int64_t>(visible[static_cast<std::size_t>(i)], 0, keys.rows));
    Scratch scratch;
    float* scores = scratch.take(std::max<std::int64_t>(1, (end - begin) * most));
    auto* order = scratch.take<std::int32_t>(std::max<std::int64_t>(1, most));
    const Rows<float> products{scores, end - begin, most, most};
    if (most > 0) matmul(queries.rows_from(begin, end), keys.rows_from(0, most).transposed(), products);
    for (std::int64_t i = begin; i < end; ++i) {
      float* row = products[i - begin];
      const std::int64_t n = std::clamp<std::int64_t>(visible[static_cast<std::size_t>(i)], 0, keys.rows);
      for (std::int64_t j = 0; j < n; ++j)
        if (std::isnan(row[j])) row[j] = -std::numeric_limits<float>::infinity();
      best_of(row, n, count, order, best + i * count);
    }
  });
}

}  // namespace attune::kernels
#endif
