#include "attune/kernels/reference/rotary.h"

namespace attune::kernels {

void rotary(const HeadRows<const double>& x, const Rotation<double>& r, const HeadRows<double>& y) {
  const bool split = r.pairing == RotaryPairing::half_split;
  for (std::int64_t t = 0; t < r.tokens; ++t) {
    for (std::int64_t h = 0; h < x.heads; ++h) {
      const double* in = x.at(t, h);
      double* out = y.at(t, h);
      for (std::int64_t i = 0; i < r.half; ++i) {
        const std::int64_t a = split ? i : 2 * i, b = split ? i + r.half : 2 * i + 1;
        const double cos = r.cos[t * r.half + i], sin = r.inverse ? -r.sin[t * r.half + i] : r.sin[t * r.half + i];
        out[a] = in[a] * cos - in[b] * sin;
        out[b] = in[b] * cos + in[a] * sin;
      }
      for (std::int64_t c = 2 * r.half; c < x.width; ++c) out[c] = in[c];
    }
  }
}

}  // namespace attune::kernels
