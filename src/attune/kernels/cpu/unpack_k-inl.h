// The formats of 256 values in parts with small scales of their own; see unpack-inl.h. Compiled once for each
// instruction set.
#if defined(ATTUNE_KERNELS_CPU_UNPACK_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_UNPACK_K_INL_H_
#undef ATTUNE_KERNELS_CPU_UNPACK_K_INL_H_
#else
#define ATTUNE_KERNELS_CPU_UNPACK_K_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "attune/kernels/cpu/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

// 256 values are 64 words of codes: value 128 n + 32 j + 4 l is word 32 n + 8 j + l.

template <>
struct Unpack<QuantisedFormat::Q2_K> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words parts = load_words(rows, 0), last = load_words(rows, 68);
    const FloatVector scale = half_number(last[3]), minimum = high_half_number(last[3]);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      to.scale(i, hn::Mul(scale, byte_number(low_halves(parts[i / 4]), i % 4)));
      to.addend(i, hn::Neg(hn::Mul(minimum, byte_number(high_halves(parts[i / 4]), i % 4))));
    }
    write_half<0>(load_eight_words(rows, 16), to);
    write_half<1>(load_eight_words(rows, 48), to);
  }
  template <int kHalf, class Writer>
  static HWY_INLINE void write_half(const EightWords& codes, const Writer& to) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 8
      for (int l = 0; l < 8; ++l) to.code(32 * kHalf + 8 * j + l, field(codes[l], 2 * j, 3));
    }
  }
};

template <>
struct Unpack<QuantisedFormat::Q3_K> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    // Two bytes of codes, the 12 of the parts' scales, and the scale.
    const Words last = load_words(rows, 94);
    const FloatVector scale = high_half_number(last[3]);
    WordVector packed[3];
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) packed[i] = hn::Or(hn::ShiftRight<16>(last[i]), hn::ShiftLeft<16>(last[i + 1]));
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const WordVector lower = i < 8 ? low_halves(packed[i / 4]) : high_halves(packed[i / 4 - 2]);
      const WordVector six = hn::Or(lower, hn::ShiftLeft<4>(field(packed[2], i / 4 * 2, 3)));
      to.scale(i, hn::Mul(scale, hn::Sub(byte_number(six, i % 4), hn::Set(DotFloats(), 32.0f))));
    }
    const EightWords high = load_eight_words(rows, 0);
    write_half<0>(load_eight_words(rows, 32), high, to);
    write_half<1>(load_eight_words(rows, 64), high, to);
  }
  template <int kHalf, class Writer>
  static HWY_INLINE void write_half(const EightWords& codes, const EightWords& high, const Writer& to) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 8
      for (int l = 0; l < 8; ++l) {
        const WordVector third = hn::ShiftLeft<2>(field(high[l], 4 * kHalf + j, 1));
        to.code(32 * kHalf + 8 * j + l, hn::Or(field(codes[l], 2 * j, 3), third));
      }
    }
  }
};

/// Scales and addends of the 8 parts of Q4_K and Q5_K, from the block's first 16 bytes.
template <class Writer>
HWY_INLINE void write_six_bit_parts(const Words& first, const Writer& to) {
  const FloatVector scale = half_number(first[0]), minimum = high_half_number(first[0]);
  const WordVector top_scales = hn::And(hn::ShiftRight<2>(first[1]), each_byte(0x30));
  const WordVector top_minima = hn::And(hn::ShiftRight<2>(first[2]), each_byte(0x30));
  const WordVector scales[2] = {hn::And(first[1], each_byte(63)), hn::Or(low_halves(first[3]), top_scales)};
  const WordVector minima[2] = {hn::And(first[2], each_byte(63)), hn::Or(high_halves(first[3]), top_minima)};
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    to.scale(i, hn::Mul(scale, byte_number(scales[i / 4], i % 4)));
    to.addend(i, hn::Neg(hn::Mul(minimum, byte_number(minima[i / 4], i % 4))));
  }
}

template <>
struct Unpack<QuantisedFormat::Q4_K> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    write_six_bit_parts(load_words(rows, 0), to);
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n) {
      const EightWords codes = load_eight_words(rows, 16 + 32 * n);
#pragma GCC unroll 8
      for (int l = 0; l < 8; ++l) {
        to.code(16 * n + l, low_halves(codes[l]));
        to.code(16 * n + 8 + l, high_halves(codes[l]));
      }
    }
  }
};

template <>
struct Unpack<QuantisedFormat::Q5_K> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    write_six_bit_parts(load_words(rows, 0), to);
    const EightWords high = load_eight_words(rows, 16);
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n) {
      const EightWords codes = load_eight_words(rows, 48 + 32 * n);
#pragma GCC unroll 8
      for (int l = 0; l < 8; ++l) {
        const WordVector fifth = hn::ShiftLeft<4>(field(high[l], 2 * n, 1));
        const WordVector next_fifth = hn::ShiftLeft<4>(field(high[l], 2 * n + 1, 1));
        to.code(16 * n + l, hn::Or(low_halves(codes[l]), fifth));
        to.code(16 * n + 8 + l, hn::Or(high_halves(codes[l]), next_fifth));
      }
    }
  }
};

template <>
struct Unpack<QuantisedFormat::Q6_K> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words parts = load_words(rows, 192), last = load_words(rows, 194);
    const FloatVector scale = high_half_number(last[3]);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) to.scale(i, hn::Mul(scale, signed_byte_number(parts[i / 4], i % 4)));
    write_half<0>(rows, to);
    write_half<1>(rows, to);
  }
  template <int kHalf, class Writer>
  static HWY_INLINE void write_half(const PackedRows& rows, const Writer& to) {
    const EightWords high = load_eight_words(rows, 128 + 32 * kHalf);
    const EightWords lower = load_eight_words(rows, 64 * kHalf), upper = load_eight_words(rows, 64 * kHalf + 32);
    constexpr int word = 32 * kHalf;
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) {
      to.code(word + l, hn::Or(low_halves(lower[l]), hn::ShiftLeft<4>(field(high[l], 0, 3))));
      to.code(word + 8 + l, hn::Or(low_halves(upper[l]), hn::ShiftLeft<4>(field(high[l], 2, 3))));
      to.code(word + 16 + l, hn::Or(high_halves(lower[l]), hn::ShiftLeft<4>(field(high[l], 4, 3))));
      to.code(word + 24 + l, hn::Or(high_halves(upper[l]), hn::ShiftLeft<4>(field(high[l], 6, 3))));
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
