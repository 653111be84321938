#include "attune/kernels/cpu/quantise_k.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/kernels/cpu/quantise_fit.h"

namespace attune::kernels {

namespace {

using Values = std::span<const float>;

constexpr int rounds = 2;  // of: the best small scales of all parts, then the best scale of the block for them

int nearest_int(float x, float lowest, float highest) { return static_cast<int>(nearest_code(x, lowest, highest)); }

/// A block whose 8 parts of 32 values have a scale and a minimum of 6 bits each: value = scale * part's scale * code -
/// minimum * part's minimum.
struct SixBitBlock {
  int highest;  // code
  Half scale{}, minimum{};
  blocks::SixBits parts{};
  float codes[256] = {};
  double error = 0;

  AffineFit fit_of(int part) const {
    return {to_float(scale) * static_cast<float>(parts.scale[part]),
            -(to_float(minimum) * static_cast<float>(parts.minimum[part]))};
  }

  /// The part's small scale and minimum that leave the least, from those beside the ones it has.
  void improve_part(Values x, int part) {
    const int s = parts.scale[part], m = parts.minimum[part];
    double least = std::numeric_limits<double>::infinity();
    int best_s = s, best_m = m;
    for (int i = std::max(0, s - 1); i <= std::min(63, s + 1); ++i) {
      for (int j = std::max(0, m - 1); j <= std::min(63, m + 1); ++j) {
        parts.scale[part] = static_cast<std::uint8_t>(i), parts.minimum[part] = static_cast<std::uint8_t>(j);
        const double left = encode_affine(x, fit_of(part), 0, highest, codes + 32 * part);
        if (left < least) least = left, best_s = i, best_m = j;
      }
    }
    parts.scale[part] = static_cast<std::uint8_t>(best_s), parts.minimum[part] = static_cast<std::uint8_t>(best_m);
    error += encode_affine(x, fit_of(part), 0, highest, codes + 32 * part);
  }
  void improve_parts(Values x) {
    error = 0;
    for (int part = 0; part < 8; ++part) improve_part(x.subspan(static_cast<std::size_t>(32 * part), 32), part);
  }

  /// The block's scale and minimum by least squares: x = scale * a - minimum * b, a and b whole numbers.
  void improve_block(Values x) {
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0;
    for (int i = 0; i < 256; ++i) {
      const double a = static_cast<double>(codes[i]) * parts.scale[i / 32], b = parts.minimum[i / 32];
      const double v = x[static_cast<std::size_t>(i)];
      aa += a * a, ab += a * b, bb += b * b, xa += v * a, xb += v * b;
    }
    const double determinant = aa * bb - ab * ab;
    if (determinant > 1e-9 * aa * bb) {
      const double s = (xa * bb - xb * ab) / determinant, m = (xa * ab - xb * aa) / determinant;
      if (s > 0 && m >= 0) scale = finite_half(static_cast<float>(s)), minimum = finite_half(static_cast<float>(m));
    } else if (aa > 0 && bb == 0 && xa > 0) {
      scale = finite_half(static_cast<float>(xa / aa));
    }
  }
};

SixBitBlock fit_six_bits(Values x, int highest) {
  AffineFit fits[8];
  float most_scale = 0, most_minimum = 0;
  for (int part = 0; part < 8; ++part) {
    fits[part] = fit_affine(x.subspan(static_cast<std::size_t>(32 * part), 32), highest, Addend::at_most_zero);
    most_scale = std::max(most_scale, fits[part].scale);
    most_minimum = std::max(most_minimum, -fits[part].addend);
  }
  SixBitBlock best{.highest = highest};
  best.scale = finite_half(most_scale / 63);
  best.minimum = finite_half(most_minimum / 63);
  const float scales = inverse_of(to_float(best.scale)), minima = inverse_of(to_float(best.minimum));
  for (int part = 0; part < 8; ++part) {
    best.parts.scale[part] = static_cast<std::uint8_t>(nearest_int(fits[part].scale * scales, 0, 63));
    best.parts.minimum[part] = static_cast<std::uint8_t>(nearest_int(-fits[part].addend * minima, 0, 63));
  }
  best.improve_parts(x);
  for (int i = 0; i < rounds; ++i) {
    SixBitBlock next = best;
    next.improve_block(x);
    next.improve_parts(x);
    if (next.error >= best.error) break;
    best = next;
  }
  return best;
}

/// The lower 4 bits of 256 codes, as Q4_K and Q5_K keep them.
void write_halves(const float* codes, std::uint8_t (&to)[128]) {
  for (int i = 0; i < 128; ++i) {
    const int low = i / 32 * 64 + i % 32;
    to[i] =
        static_cast<std::uint8_t>((static_cast<int>(codes[low]) & 15) | (static_cast<int>(codes[low + 32]) & 15) << 4);
  }
}

}  // namespace

void compress(Values x, blocks::Q4_K& b) {
  const SixBitBlock fit = fit_six_bits(x, 15);
  b.scale.set(fit.scale), b.minimum.set(fit.minimum);
  fit.parts.write(b.parts);
  write_halves(fit.codes, b.codes);
}

void compress(Values x, blocks::Q5_K& b) {
  const SixBitBlock fit = fit_six_bits(x, 31);
  b.scale.set(fit.scale), b.minimum.set(fit.minimum);
  fit.parts.write(b.parts);
  write_halves(fit.codes, b.codes);
  std::fill(std::begin(b.high), std::end(b.high), std::uint8_t{0});
  for (int i = 0; i < 256; ++i)
    b.high[i % 32] = static_cast<std::uint8_t>(b.high[i % 32] | (static_cast<int>(fit.codes[i]) >> 4) << (i / 32));
}

namespace {

/// A block of 16 parts of 16 values: value = scale * part * code, codes from -32 to 31.
struct SixteenParts {
  Half scale{};
  std::int8_t parts[16] = {};
  float codes[256] = {};
  double error = 0;

  double encode_part(Values x, int part, int factor) {
    return encode_affine(x, {to_float(scale) * static_cast<float>(factor), 0}, -32, 31, codes + 16 * part);
  }
  void improve_parts(Values x) {
    error = 0;
    for (int part = 0; part < 16; ++part) {
      const Values values = x.subspan(static_cast<std::size_t>(16 * part), 16);
      double least = std::numeric_limits<double>::infinity();
      int best = parts[part];
      for (int i = std::max(-128, parts[part] - 1); i <= std::min(127, parts[part] + 1); ++i) {
        const double left = encode_part(values, part, i);
        if (left < least) least = left, best = i;
      }
      parts[part] = static_cast<std::int8_t>(best);
      error += encode_part(values, part, best);
    }
  }
  void improve_block(Values x) {
    double products = 0, squares = 0;
    for (int i = 0; i < 256; ++i) {
      const double a = static_cast<double>(codes[i]) * parts[i / 16];
      products += a * x[static_cast<std::size_t>(i)], squares += a * a;
    }
    if (squares > 0) scale = finite_half(static_cast<float>(products / squares));
  }
};

}  // namespace

void compress(Values x, blocks::Q6_K& b) {
  float fits[16], extreme = 0;
  for (int part = 0; part < 16; ++part) {
    fits[part] = fit_scale(x.subspan(static_cast<std::size_t>(16 * part), 16), -32, 31);
    if (std::abs(fits[part]) > std::abs(extreme)) extreme = fits[part];
  }
  SixteenParts best;
  best.scale = finite_half(extreme / -128);
  const float inverse = inverse_of(to_float(best.scale));
  for (int part = 0; part < 16; ++part)
    best.parts[part] = static_cast<std::int8_t>(nearest_int(fits[part] * inverse, -128, 127));
  best.improve_parts(x);
  for (int i = 0; i < rounds; ++i) {
    SixteenParts next = best;
    next.improve_block(x);
    next.improve_parts(x);
    if (next.error >= best.error) break;
    best = next;
  }
  b.scale.set(best.scale);
  std::copy(std::begin(best.parts), std::end(best.parts), b.parts);
  for (int i = 0; i < 128; ++i) {
    const int low = i / 64 * 128 + i % 64;
    b.codes[i] = static_cast<std::uint8_t>(((static_cast<int>(best.codes[low]) + 32) & 15) |
                                           ((static_cast<int>(best.codes[low + 64]) + 32) & 15) << 4);
  }
  for (int i = 0; i < 64; ++i) {
    int byte = 0;
    for (int j = 0; j < 4; ++j)
      byte |= ((static_cast<int>(best.codes[i / 32 * 128 + 32 * j + i % 32]) + 32) >> 4) << (2 * j);
    b.high[i] = static_cast<std::uint8_t>(byte);
  }
}

}  // namespace attune::kernels
