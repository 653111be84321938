#pragma once

#include <span>

#include "attune/tensor/convert.h"

/// How quantise.cpp and quantise_k.cpp choose scales. Nobody else includes this.
namespace attune::kernels {

/// The nearest whole number from `lowest` to `highest` (|bounds| below 2^22), ties to even.
inline float nearest_code(float x, float lowest, float highest) {
  constexpr float to_unit = 12582912.0f;  // 1.5 * 2^23, whose neighbours are 1 apart
  const float inside = x < lowest ? lowest : x > highest ? highest : x;
  return (inside + to_unit) - to_unit;
}

/// The nearest half-precision number that is finite.
inline Half finite_half(float x) { return to_half(x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x); }

/// 1 / x, or 0 where that is no finite number.
float inverse_of(float x);

/// The scale for which x is near scale * codes of lowest to highest. 0 where all of x is.
float fit_scale(std::span<const float> x, int lowest, int highest);

struct AffineFit {
  float scale, addend;
};
/// The scale (at least 0) and addend for which x is near scale * codes of 0 to highest + addend.
enum class Addend { any, at_most_zero };
AffineFit fit_affine(std::span<const float> x, int highest, Addend addends);

/// Codes of x, at `codes`, and the sum of squared differences that they leave.
double encode_affine(std::span<const float> x, AffineFit fit, int lowest, int highest, float* codes);

}  // namespace attune::kernels
