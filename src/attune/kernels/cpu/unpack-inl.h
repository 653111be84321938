// Blocks of quantised weights to codes and scales, many outputs at once: the bytes of one block of 4, 8 or 16 outputs
// are transposed so that each output has a 32-bit lane, and all that follows is the same for every lane. The blocks'
// layouts are in kernels/quantised_blocks.h. Compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_UNPACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_UNPACK_INL_H_
#undef ATTUNE_KERNELS_CPU_UNPACK_INL_H_
#else
#define ATTUNE_KERNELS_CPU_UNPACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "attune/kernels/cpu/dot-inl.h"
#include "attune/kernels/cpu/unroll.h"
#include "attune/kernels/quantised_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// Rows of blocks, `stride` bytes apart: as many as a vector has lanes. Each fourth row has a pointer of its own, and
/// the three behind it are found from that with what an address can hold: no row takes a register.
struct PackedRows {
  static constexpr int fourths = dot_lanes < 4 ? 1 : static_cast<int>(dot_lanes / 4);
  const std::uint8_t* fourth[fourths];
  std::int64_t stride, three;

  HWY_INLINE PackedRows(const std::uint8_t* first, std::int64_t bytes) : stride(bytes), three(3 * bytes) {
    for (int i = 0; i < fourths; ++i) fourth[i] = first + 4 * i * bytes;
  }
  HWY_INLINE const std::uint8_t* operator[](int row) const {
    return fourth[row / 4] + (row % 4 == 3 ? three : row % 4 * stride);
  }
  HWY_INLINE void go_on(std::int64_t bytes) {
    ATTUNE_UNROLL
    for (int i = 0; i < fourths; ++i) fourth[i] += bytes;
  }
};

/// Bytes `offset` to `offset` + 15 of the rows: word j of them is four bytes, a row in a lane.
struct Words {
  WordVector w[4];
  WordVector operator[](int j) const { return w[j]; }
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Words load_words(const PackedRows& rows, std::int64_t offset) {
  std::uint32_t w[4];
  std::memcpy(w, rows[0] + offset, sizeof w);
  const DotWords d;
  return {{hn::Set(d, w[0]), hn::Set(d, w[1]), hn::Set(d, w[2]), hn::Set(d, w[3])}};
}
/// The unequal step that each byte, 0 to 15, stands for.
HWY_INLINE WordVector unequal_steps_of(WordVector bytes) {
  std::uint32_t word = hn::GetLane(bytes), steps = 0;
  for (int i = 0; i < 32; i += 8)
    steps |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(blocks::unequal_steps[word >> i & 15u])) << i;
  return hn::Set(DotWords(), steps);
}
#else
using Bytes = hn::Repartition<std::uint8_t, DotWords>;

HWY_INLINE WordVector unequal_steps_of(WordVector bytes) {
  const auto steps = hn::LoadDup128(Bytes(), reinterpret_cast<const std::uint8_t*>(blocks::unequal_steps));
  return hn::BitCast(DotWords(), hn::TableLookupBytes(steps, hn::BitCast(Bytes(), bytes)));
}

/// 16 bytes of every fourth row from `row` on, a row in each 128 bits.
HWY_INLINE WordVector load_fourth_rows(const PackedRows& rows, int row, std::int64_t offset) {
  const DotWords d;
  WordVector v = hn::BitCast(d, hn::LoadDup128(Bytes(), rows[row] + offset));
#pragma GCC unroll 4
  for (int i = 4; i < dot_lanes; i += 4) {
    const WordVector next = hn::BitCast(d, hn::LoadDup128(Bytes(), rows[row + i] + offset));
    // In this order it is one masked load on AVX-512.
    v = hn::IfThenElse(hn::Not(hn::FirstN(d, static_cast<std::size_t>(i))), next, v);
  }
  return v;
}
HWY_INLINE Words load_words(const PackedRows& rows, std::int64_t offset) {
  const DotWords d;
  const hn::Repartition<std::uint64_t, DotWords> d64;
  const WordVector r0 = load_fourth_rows(rows, 0, offset), r1 = load_fourth_rows(rows, 1, offset);
  const WordVector r2 = load_fourth_rows(rows, 2, offset), r3 = load_fourth_rows(rows, 3, offset);
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  return {{hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)),
           hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)),
           hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)),
           hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23))}};
}
#endif

/// The same of 32 bytes.
struct EightWords {
  WordVector w[8];
  WordVector operator[](int j) const { return w[j]; }
};
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Half as many loads: 32 bytes of two rows are a vector.
HWY_INLINE EightWords load_eight_words(const PackedRows& rows, std::int64_t offset) {
  const auto row = [&](int i)
                       HWY_ATTR { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[i] + offset)); };
  const auto two_rows = [&](int i)
                            HWY_ATTR { return _mm512_inserti64x4(_mm512_castsi256_si512(row(i)), row(i + 4), 1); };
  // Words j and 4 + j of rows 0 to 3, then those of rows 4 to 7; and of 8 to 15.
  __m512i mixed[2][4];
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const __m512i r0 = two_rows(8 * half), r1 = two_rows(8 * half + 1);
    const __m512i r2 = two_rows(8 * half + 2), r3 = two_rows(8 * half + 3);
    const __m512i low01 = _mm512_unpacklo_epi32(r0, r1), low23 = _mm512_unpacklo_epi32(r2, r3);
    const __m512i high01 = _mm512_unpackhi_epi32(r0, r1), high23 = _mm512_unpackhi_epi32(r2, r3);
    mixed[half][0] = _mm512_unpacklo_epi64(low01, low23);
    mixed[half][1] = _mm512_unpackhi_epi64(low01, low23);
    mixed[half][2] = _mm512_unpacklo_epi64(high01, high23);
    mixed[half][3] = _mm512_unpackhi_epi64(high01, high23);
  }
  EightWords words;
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    words.w[j] = WordVector{_mm512_shuffle_i64x2(mixed[0][j], mixed[1][j], _MM_SHUFFLE(2, 0, 2, 0))};
    words.w[4 + j] = WordVector{_mm512_shuffle_i64x2(mixed[0][j], mixed[1][j], _MM_SHUFFLE(3, 1, 3, 1))};
  }
  return words;
}
#else
HWY_INLINE EightWords load_eight_words(const PackedRows& rows, std::int64_t offset) {
  const Words lower = load_words(rows, offset), upper = load_words(rows, offset + 16);
  return {{lower[0], lower[1], lower[2], lower[3], upper[0], upper[1], upper[2], upper[3]}};
}
#endif

/// The same bits in each of the four bytes.
HWY_INLINE WordVector each_byte(std::uint32_t bits) { return hn::Set(DotWords(), bits * 0x01010101u); }
/// Bits of each byte, moved down: `shift` is a constant once loops are unrolled.
HWY_INLINE WordVector field(WordVector v, int shift, std::uint32_t bits) {
  return hn::And(hn::ShiftRightSame(v, shift), each_byte(bits));
}
HWY_INLINE WordVector low_halves(WordVector v) { return hn::And(v, each_byte(15)); }
HWY_INLINE WordVector high_halves(WordVector v) { return hn::And(hn::ShiftRight<4>(v), each_byte(15)); }

/// Byte i of each lane as a number.
HWY_INLINE FloatVector byte_number(WordVector v, int i) {
  const WordVector byte = hn::And(hn::ShiftRightSame(v, 8 * i), hn::Set(DotWords(), 255u));
  return hn::ConvertTo(DotFloats(), hn::BitCast(DotIntegers(), byte));
}
HWY_INLINE FloatVector signed_byte_number(WordVector v, int i) {
  const IntegerVector up = hn::BitCast(DotIntegers(), hn::ShiftLeftSame(v, 24 - 8 * i));
  return hn::ConvertTo(DotFloats(), hn::ShiftRight<24>(up));
}
/// The half-precision number in the lower 16 bits of each lane. Subnormal ones, which small scales are, take no detour
/// over subnormal numbers of f32: those cost tens of cycles.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
HWY_INLINE FloatVector half_number(WordVector v) {
  const hn::Rebind<std::uint16_t, DotWords> d16;
  const hn::Rebind<hwy::float16_t, DotWords> half;
  return hn::PromoteTo(DotFloats(), hn::BitCast(half, hn::TruncateTo(d16, v)));  // one instruction converts
}
#else
HWY_INLINE FloatVector half_number(WordVector v) {
  const DotWords d;
  const DotIntegers di;
  const IntegerVector magnitude = hn::BitCast(di, hn::And(v, hn::Set(d, 0x7fffu)));
  const IntegerVector shifted = hn::ShiftLeft<13>(magnitude);
  // The exponent's bias differs by 112. With an exponent of 113 a subnormal number's bits are 2^-14 and that number.
  const IntegerVector normal = hn::Add(shifted, hn::Set(di, 112 << 23));
  const FloatVector more = hn::BitCast(DotFloats(), hn::Add(shifted, hn::Set(di, 113 << 23)));
  const IntegerVector small = hn::BitCast(di, hn::Sub(more, hn::Set(DotFloats(), 0x1p-14f)));
  const IntegerVector finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x400)), small, normal);
  const auto beyond = hn::VecFromMask(di, hn::Gt(magnitude, hn::Set(di, 0x7bff)));
  const IntegerVector infinity = hn::And(beyond, hn::Set(di, 0x7f800000));
  const WordVector sign = hn::ShiftLeft<16>(hn::And(v, hn::Set(d, 0x8000u)));
  return hn::BitCast(DotFloats(), hn::Or(hn::BitCast(d, hn::Or(finite, infinity)), sign));
}
#endif
HWY_INLINE FloatVector high_half_number(WordVector v) { return half_number(hn::ShiftRight<16>(v)); }

/// Where a block's codes, scales and addends go, for one vector of outputs.
template <int kSignOffset>
struct TileWriter {
  std::uint32_t* codes;
  float *scales, *addends;

  /// Inputs 4 word to 4 word + 3 of the block.
  HWY_INLINE void code(int word, WordVector v) const { hn::Store(v, DotWords(), codes + word * tile_outputs); }
  HWY_INLINE void code_with_sign(int word, WordVector v) const {
    code(word, kSignOffset == 0 ? v : hn::Xor(v, each_byte(0x80)));
  }
  HWY_INLINE void scale(int part, FloatVector v) const { hn::Store(v, DotFloats(), scales + part * tile_outputs); }
  HWY_INLINE void addend(int part, FloatVector v) const { hn::Store(v, DotFloats(), addends + part * tile_outputs); }
};

template <QuantisedFormat kFormat>
struct Unpack;

template <>
struct Unpack<QuantisedFormat::Q4_0> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0), codes = load_words(rows, 2);
    to.scale(0, half_number(first[0]));
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) to.code(j, low_halves(codes[j])), to.code(4 + j, high_halves(codes[j]));
  }
};

template <>
struct Unpack<QuantisedFormat::Q4_1> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0), codes = load_words(rows, 4);
    to.scale(0, half_number(first[0]));
    to.addend(0, high_half_number(first[0]));
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) to.code(j, low_halves(codes[j])), to.code(4 + j, high_halves(codes[j]));
  }
};

/// As many neighbouring blocks as are read with fewer loads together, as one of `blocks` times the values and parts.
template <QuantisedFormat kFormat>
struct UnpackTogether : Unpack<kFormat> {
  static constexpr int blocks = 1;
};
template <>
struct UnpackTogether<QuantisedFormat::Q4_1> {
  static constexpr int blocks = 4;  // of 5 words are five times 16 bytes
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const EightWords begin = load_eight_words(rows, 0), middle = load_eight_words(rows, 32);
    const Words end = load_words(rows, 64);
    const auto word = [&](int i) HWY_ATTR { return i < 8 ? begin[i] : i < 16 ? middle[i - 8] : end[i - 16]; };
#pragma GCC unroll 4
    for (int block = 0; block < blocks; ++block) {
      const int first = 5 * block;
      to.scale(block, half_number(word(first)));
      to.addend(block, high_half_number(word(first)));
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const WordVector codes = word(first + 1 + j);
        to.code(8 * block + j, low_halves(codes)), to.code(8 * block + 4 + j, high_halves(codes));
      }
    }
  }
};

/// 32 codes of 5 bits: their halves, and the fifth bits of all, value i's in bit i.
template <class Writer>
HWY_INLINE void write_five_bits(const Words& codes, WordVector high, const Writer& to) {
  const DotWords d;
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    // Bits 0 to 3 to the lowest bit of bytes 0 to 3.
    const WordVector four = hn::And(hn::ShiftRightSame(high, 4 * j), hn::Set(d, 15u));
    const WordVector twice = hn::Or(four, hn::ShiftLeft<14>(four));
    const WordVector fifth = hn::And(hn::Or(twice, hn::ShiftLeft<7>(twice)), each_byte(1));
    const WordVector lower = j < 4 ? low_halves(codes[j % 4]) : high_halves(codes[j % 4]);
    to.code(j, hn::Or(lower, hn::ShiftLeft<4>(fifth)));
  }
}

template <>
struct Unpack<QuantisedFormat::Q5_0> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0);
    to.scale(0, half_number(first[0]));
    const WordVector high = hn::Or(hn::ShiftRight<16>(first[0]), hn::ShiftLeft<16>(first[1]));
    write_five_bits(load_words(rows, 6), high, to);
  }
};

template <>
struct Unpack<QuantisedFormat::Q5_1> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0);
    to.scale(0, half_number(first[0]));
    to.addend(0, high_half_number(first[0]));
    write_five_bits(load_words(rows, 8), first[1], to);
  }
};

template <>
struct Unpack<QuantisedFormat::Q8_0> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0);
    const EightWords codes = load_eight_words(rows, 2);
    to.scale(0, half_number(first[0]));
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) to.code_with_sign(j, codes[j]);
  }
};

/// 16 bytes of halves that stand for unequal steps: values 0 to 15 and 16 to 31.
template <class Writer>
HWY_INLINE void write_unequal_steps(const Words& codes, int word, const Writer& to) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    to.code_with_sign(word + j, unequal_steps_of(low_halves(codes[j])));
    to.code_with_sign(word + 4 + j, unequal_steps_of(high_halves(codes[j])));
  }
}

template <>
struct Unpack<QuantisedFormat::IQ4_NL> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0);
    to.scale(0, half_number(first[0]));
    write_unequal_steps(load_words(rows, 2), 0, to);
  }
};

template <>
struct Unpack<QuantisedFormat::IQ4_XS> {
  template <class Writer>
  static HWY_INLINE void run(const PackedRows& rows, const Writer& to) {
    const Words first = load_words(rows, 0);
    const FloatVector scale = half_number(first[0]);
    const DotIntegers di;
#pragma GCC unroll 8
    for (int part = 0; part < 8; ++part) {
      const WordVector lower = hn::And(hn::ShiftRightSame(first[1], 4 * part), hn::Set(DotWords(), 15u));
      const WordVector upper = hn::And(hn::ShiftRightSame(first[0], 16 + 2 * part), hn::Set(DotWords(), 3u));
      const IntegerVector six = hn::BitCast(di, hn::Or(lower, hn::ShiftLeft<4>(upper)));
      to.scale(part, hn::Mul(scale, hn::ConvertTo(DotFloats(), hn::Sub(six, hn::Set(di, 32)))));
      write_unequal_steps(load_words(rows, 8 + 16 * part), 8 * part, to);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
