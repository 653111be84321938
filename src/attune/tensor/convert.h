#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attune/base/error.h"
#include "attune/tensor/dtype.h"

namespace attune {

/// Calls work.operator()<T>() with the C++ type of `type`.
template <class Work>
auto with_type(DType type, Work&& work) {
  switch (type) {
    case DType::F64:
      return work.template operator()<double>();
    case DType::F32:
      return work.template operator()<float>();
    case DType::F16:
      return work.template operator()<Half>();
    case DType::BF16:
      return work.template operator()<BFloat16>();
    case DType::I64:
      return work.template operator()<std::int64_t>();
    case DType::I32:
      return work.template operator()<std::int32_t>();
    case DType::I8:
      return work.template operator()<std::int8_t>();
    case DType::U8:
      return work.template operator()<std::uint8_t>();
  }
  fail("unknown element type {}", static_cast<int>(type));
}

/// IEEE 754 binary16; exact, subnormal numbers included.
inline float to_float(Half h) {
  std::uint32_t magnitude = h.bits & 0x7fffu;
  // The exponent's bias differs by 112; the multiplication also normalises subnormal numbers.
  std::uint32_t bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  if (magnitude >= 0x7c00u) bits |= 0x7f800000u;  // infinity, NaN
  return std::bit_cast<float>(bits | (static_cast<std::uint32_t>(h.bits & 0x8000u) << 16));
}
inline float to_float(BFloat16 b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }

/// Round to nearest, ties to even; 65,520 and above become infinity.
inline Half to_half(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x), sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  std::uint32_t half = 0;
  if (bits >= 0x47800000u) {  // 2^16 and above, infinity, NaN (kept quiet)
    half = bits > 0x7f800000u ? 0x7e00u | ((bits >> 13) & 0x3ffu) : 0x7c00u;
  } else if (bits < 0x38800000u) {  // subnormal in 16 bits: 0.5 has an ulp of 2^-24, so the addition rounds there
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  } else {
    half = (bits - (112u << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
  }
  return {static_cast<std::uint16_t>(half | sign)};
}
inline BFloat16 to_bfloat16(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// To float with the last bit set where that is not exact ("round to odd"), so that rounding once more to 16 bits is
/// right.
inline float round_to_odd(double x) {
  float nearest = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(nearest) == x) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) bits -= 1;
  return std::bit_cast<float>(bits | 1u);
}

/// One element as another type. Floats round to nearest even; a value beyond an integer type's range becomes the
/// nearest end of it, NaN becomes 0.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(to_float(x));
  } else if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, float>) return to_half(x);
    return to_half(round_to_odd(static_cast<double>(x)));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>) return to_bfloat16(x);
    return to_bfloat16(round_to_odd(static_cast<double>(x)));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_floating_point_v<From>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(x)) return 0;
    From rounded = std::nearbyint(x);
    // The upper end itself may not be a float, one above it (a power of two) always is.
    if (rounded < static_cast<From>(Limits::min())) return Limits::min();
    if (rounded >= -2 * static_cast<From>(Limits::min() / 2) && !std::is_unsigned_v<To>) return Limits::max();
    if (std::is_unsigned_v<To> && rounded > static_cast<From>(Limits::max())) return Limits::max();
    return static_cast<To>(rounded);
  } else {
    using Limits = std::numeric_limits<To>;
    if (static_cast<std::int64_t>(x) < static_cast<std::int64_t>(Limits::min())) return Limits::min();
    if (static_cast<std::int64_t>(x) > static_cast<std::int64_t>(Limits::max())) return Limits::max();
    return static_cast<To>(x);
  }
}

}  // namespace attune
