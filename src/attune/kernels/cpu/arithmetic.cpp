#include "attune/kernels/cpu/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

void add(Rows<const float> a, Rows<const float> b, Rows<float> y) {
  map_rows(
      y, [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); }, a, b);
}

void multiply(Rows<const float> a, Rows<const float> b, Rows<float> y) {
  map_rows(
      y, [](auto p, auto q) HWY_ATTR { return hn::Mul(p, q); }, a, b);
}

void scale(Rows<const float> x, float factor, Rows<float> y) {
  const auto f = hn::Set(F32(), factor);
  map_rows(
      y, [&](auto v) HWY_ATTR { return hn::Mul(v, f); }, x);
}

void clamp(Rows<const float> x, float most, Rows<float> y) {
  const auto high = hn::Set(F32(), most), low = hn::Set(F32(), -most);
  map_rows(
      y, [&](auto v) HWY_ATTR { return hn::Min(hn::Max(v, low), high); }, x);
}

void clamp_backward(Rows<const float> x, Rows<const float> dy, float most, Rows<float> dx) {
  const auto high = hn::Set(F32(), most);
  map_rows(
      dx, [&](auto v, auto d) HWY_ATTR { return hn::IfThenElseZero(hn::Le(hn::Abs(v), high), d); }, x, dy);
}

void add_row(Rows<const float> x, const float* row, Rows<float> y) {
  if (y.width == 0) return;
  parallel(y.count, std::max<std::int64_t>(1, elementwise_grain / y.width),
           [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
             for (std::int64_t t = begin; t < end; ++t)
               map(
                   y.width, y[t], [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); }, x[t], row);
           });
}

void add_column_sums(Rows<const float> x, float* into) {
  sum_blocks_of_rows(x.count, x.width, x.width, into, [&](std::int64_t begin, std::int64_t end, float* sums) HWY_ATTR {
    for (std::int64_t t = begin; t < end; ++t)
      map(
          x.width, sums, [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); }, sums, x[t]);
  });
}

double sum(Rows<const float> x) {
  const auto same = [](auto v) HWY_ATTR { return v; };
  if (x.stride == x.width) return sum_values(x.count * x.width, x.data, same);
  double total = 0;
  for (std::int64_t t = 0; t < x.count; ++t) total += sum_values(x.width, x[t], same);
  return total;
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(add);
HWY_EXPORT(multiply);
HWY_EXPORT(scale);
HWY_EXPORT(clamp);
HWY_EXPORT(clamp_backward);
HWY_EXPORT(add_row);
HWY_EXPORT(add_column_sums);
HWY_EXPORT(sum);

void add_into(std::span<const float> from, std::span<float> into) {
  auto n = static_cast<std::int64_t>(into.size());
  Rows<float> y{into.data(), 1, n, n};
  HWY_DYNAMIC_DISPATCH(add)(y, {from.data(), 1, n, n}, y);
}
void add(Rows<const float> a, Rows<const float> b, Rows<float> y) { HWY_DYNAMIC_DISPATCH(add)(a, b, y); }
void multiply(Rows<const float> a, Rows<const float> b, Rows<float> y) { HWY_DYNAMIC_DISPATCH(multiply)(a, b, y); }
void scale(Rows<const float> x, float factor, Rows<float> y) { HWY_DYNAMIC_DISPATCH(scale)(x, factor, y); }
void clamp(Rows<const float> x, float most, Rows<float> y) { HWY_DYNAMIC_DISPATCH(clamp)(x, most, y); }
void clamp_backward(Rows<const float> x, Rows<const float> dy, float most, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(clamp_backward)(x, dy, most, dx);
}
void add_row(Rows<const float> x, std::span<const float> row, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(add_row)(x, row.data(), y);
}
void add_column_sums(Rows<const float> x, std::span<float> into) {
  HWY_DYNAMIC_DISPATCH(add_column_sums)(x, into.data());
}
double sum(Rows<const float> x) { return HWY_DYNAMIC_DISPATCH(sum)(x); }

}  // namespace attune::kernels
#endif
