#include "attune/kernels/cpu/gather.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/gather.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

/// Each piece owns a range of target rows and looks through all indices, so that every row gets its terms in order.
void scatter_add_rows(Rows<const float> x, const std::int64_t* indices, Rows<float> into) {
  constexpr std::int64_t pieces = 16;
  parallel(into.count, (into.count + pieces - 1) / pieces, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t i = 0; i < x.count; ++i) {
      const std::int64_t row = indices[i];
      if (row < begin || row >= end) continue;
      map(
          into.width, into[row], [](auto p, auto q) HWY_ATTR { return hn::Add(p, q); }, into[row], x[i]);
    }
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(scatter_add_rows);

void gather_rows(Rows<const float> x, std::span<const std::int64_t> indices, Rows<float> y) {
  if (y.width == 0) return;
  parallel(y.count, std::max<std::int64_t>(1, (1 << 15) / y.width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(y[i], x[indices[static_cast<std::size_t>(i)]], static_cast<std::size_t>(y.width) * sizeof(float));
  });
}

void scatter_add_rows(Rows<const float> x, std::span<const std::int64_t> indices, Rows<float> into) {
  if (x.count == 0 || into.count == 0) return;
  HWY_DYNAMIC_DISPATCH(scatter_add_rows)(x, indices.data(), into);
}

}  // namespace attune::kernels
#endif
