// Dot products of four bytes in each 32-bit lane, by the instructions that there are. Compiled once for each
// instruction set.
#if defined(ATTUNE_KERNELS_CPU_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_DOT_INL_H_
#undef ATTUNE_KERNELS_CPU_DOT_INL_H_
#else
#define ATTUNE_KERNELS_CPU_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DotFloats = hn::CappedTag<float, 16>;
using DotIntegers = hn::RebindToSigned<DotFloats>;
using DotWords = hn::RebindToUnsigned<DotFloats>;
using FloatVector = hn::Vec<DotFloats>;
using IntegerVector = hn::Vec<DotIntegers>;
using WordVector = hn::Vec<DotWords>;
constexpr std::int64_t dot_lanes = static_cast<std::int64_t>(hn::MaxLanes(DotFloats()));

// Each adds, in every lane, code[0] x[0] + ... + code[3] x[3] to `sum`, exactly. x: -127 to 127. Codes: 0 to 63, or
// where kSign -128 to 127 (plus sign_offset, as bytes without a sign).

#if HWY_TARGET == HWY_SCALAR
struct PlainDot {
  static constexpr int sign_offset = 0;
  template <bool kSign>
  static HWY_INLINE IntegerVector add(IntegerVector sum, WordVector codes, WordVector x) {
    const std::uint32_t c = hn::GetLane(codes), y = hn::GetLane(x);
    std::int32_t products = hn::GetLane(sum);
    for (int i = 0; i < 32; i += 8) products += static_cast<std::int8_t>(c >> i) * static_cast<std::int8_t>(y >> i);
    return hn::Set(DotIntegers(), products);
  }
};
#else
/// Any CPU: products of bytes fit into 16 bits, and so do sums of two of them.
struct PlainDot {
  static constexpr int sign_offset = 0;
  template <bool kSign>
  static HWY_INLINE IntegerVector add(IntegerVector sum, WordVector codes, WordVector x) {
    const DotIntegers d;
    const hn::Repartition<std::int16_t, DotIntegers> d16;
    const auto c = hn::BitCast(d16, codes), y = hn::BitCast(d16, x);
    const auto low = hn::Mul(hn::ShiftRight<8>(hn::ShiftLeft<8>(c)), hn::ShiftRight<8>(hn::ShiftLeft<8>(y)));
    const auto high = hn::Mul(hn::ShiftRight<8>(c), hn::ShiftRight<8>(y));
    const auto pairs = hn::BitCast(d, hn::Add(low, high));
    return hn::Add(sum, hn::Add(hn::ShiftRight<16>(pairs), hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs))));
  }
};
#endif

#if HWY_TARGET == HWY_AVX2
/// Sums of two products in 16 bits (pmaddubsw), then of two such sums. The first factor has no sign there: a code's is
/// moved to x.
struct PairsDot {
  static constexpr int sign_offset = 0;
  template <bool kSign>
  static HWY_INLINE IntegerVector add(IntegerVector sum, WordVector codes, WordVector x) {
    __m256i c = codes.raw, y = x.raw;
    if constexpr (kSign) {
      y = _mm256_sign_epi8(y, c);
      c = _mm256_abs_epi8(c);
    }
    const __m256i pairs = _mm256_maddubs_epi16(c, y);
    return IntegerVector{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
  }
};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
struct PairsDot {
  static constexpr int sign_offset = 0;
  template <bool kSign>
  static HWY_INLINE IntegerVector add(IntegerVector sum, WordVector codes, WordVector x) {
    __m512i c = codes.raw, y = x.raw;
    if constexpr (kSign) {
      y = _mm512_mask_sub_epi8(y, _mm512_movepi8_mask(c), _mm512_setzero_si512(), y);
      c = _mm512_abs_epi8(c);
    }
    const __m512i pairs = _mm512_maddubs_epi16(c, y);
    return IntegerVector{_mm512_add_epi32(sum.raw, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
  }
};
#else
using PairsDot = PlainDot;
#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
/// One instruction (vpdpbusd): codes without a sign times x with one. Written in assembly because it is an extension
/// that the instruction set of this code need not have: quantised_kernels.cpp asks the CPU.
struct InstructionDot {
  static constexpr int sign_offset = 128;
  template <bool kSign>
  static HWY_INLINE IntegerVector add(IntegerVector sum, WordVector codes, WordVector x) {
#if HWY_TARGET <= HWY_AVX3
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(codes.raw), "v"(x.raw));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(codes.raw), "x"(x.raw));
#endif
    return sum;
  }
};
#else
using InstructionDot = PlainDot;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
