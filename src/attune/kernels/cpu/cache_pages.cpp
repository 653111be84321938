#include "attune/kernels/cpu/cache_pages.h"

#include <cmath>
#include <cstring>

#include "attune/tensor/convert.h"

namespace attune::kernels {

namespace {

/// Numbers of one row in a format, and their scale.
struct Rounding {
  float scale = 1, inverse = 1;

  Rounding(CacheFormat format, const float* row, std::int64_t width) {
    if (format != CacheFormat::int8) return;
    float largest = 0;
    bool finite = true;
    for (std::int64_t c = 0; c < width; ++c)
      largest = std::max(largest, std::abs(row[c])), finite &= std::isfinite(row[c]);
    // Where there is no scale the whole row is not a number: nothing is hidden by rounding.
    scale = finite ? largest / 127 : NAN;
    inverse = finite && scale > 0 ? 1 / scale : 0;
  }
  void store(float x, float& to) const { to = x; }
  void store(float x, Half& to) const {
    constexpr float most = 65504;
    to = to_half(x > most ? most : x < -most ? -most : x);  // NaN stays
  }
  void store(float x, std::int8_t& to) const {
    // The inverse of a tiny scale may be infinite, and 0 times it NaN: then the row is as good as 0.
    const float n = std::nearbyint(x * inverse);
    to = n >= 127 ? std::int8_t{127} : n <= -127 ? std::int8_t{-127} : n == n ? static_cast<std::int8_t>(n) : 0;
  }
};

template <class E>
void write_rows(const PageLayout& layout, const PageRows& rows, std::int64_t head) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t token = rows.first + i;
    const float *k = rows.k.at(i, head), *v = rows.v.at(i, head);
    const Rounding of_key(layout.format, k, layout.key_width), of_value(layout.format, v, layout.value_width);
    E* column = reinterpret_cast<E*>(rows.page + layout.key_at(token, head));
    for (std::int64_t c = 0; c < layout.key_width; ++c) of_key.store(k[c], column[c * layout.columns()]);
    E* row = reinterpret_cast<E*>(rows.page + layout.value_at(token, head));
    for (std::int64_t c = 0; c < layout.value_width; ++c) of_value.store(v[c], row[c]);
    if (layout.format == CacheFormat::int8) {
      *reinterpret_cast<float*>(rows.page + layout.key_scale_at(token, head)) = of_key.scale;
      *reinterpret_cast<float*>(rows.page + layout.value_scale_at(token, head)) = of_value.scale;
    }
  }
}

}  // namespace

void write_page_rows(const PageLayout& layout, const PageRows& rows, std::int64_t head) {
  switch (layout.format) {
    case CacheFormat::f32:
      return write_rows<float>(layout, rows, head);
    case CacheFormat::f16:
      return write_rows<Half>(layout, rows, head);
    case CacheFormat::int8:
      return write_rows<std::int8_t>(layout, rows, head);
  }
}

}  // namespace attune::kernels
