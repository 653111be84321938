#pragma once

#include <cstdint>

#include "attune/tensor/convert.h"
#include "attune/tensor/quantised.h"

/// What the bytes of a block mean, format by format (as ggml writes them; all are little-endian and unaligned). A value
/// is scale * (code - offset) + addend; the codes are small whole numbers, and formats with K in their name keep 256
/// values in parts of 16 or 32, whose scales are small whole numbers, too, times the block's own.
namespace attune::kernels::blocks {

/// An IEEE half-precision number in two bytes.
struct HalfBytes {
  std::uint8_t bytes[2];
  float value() const { return to_float(Half{bits()}); }
  void set(Half h) { bytes[0] = static_cast<std::uint8_t>(h.bits), bytes[1] = static_cast<std::uint8_t>(h.bits >> 8); }
  std::uint16_t bits() const { return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8); }
};

// 32 values. Four bits: value i (i < 16) is the low half of codes[i], value 16 + i the high half. A fifth bit: bit i of
// the 32 bits in `high`, the least significant first, belongs to value i.

struct Q4_0 {  // scale * (code - 8)
  HalfBytes scale;
  std::uint8_t codes[16];
};
struct Q4_1 {  // scale * code + addend
  HalfBytes scale, addend;
  std::uint8_t codes[16];
};
struct Q5_0 {  // scale * (code - 16)
  HalfBytes scale;
  std::uint8_t high[4];
  std::uint8_t codes[16];
};
struct Q5_1 {  // scale * code + addend
  HalfBytes scale, addend;
  std::uint8_t high[4];
  std::uint8_t codes[16];
};
struct Q8_0 {  // scale * code
  HalfBytes scale;
  std::int8_t codes[32];
};
struct IQ4_NL {  // scale * unequal_steps[code]
  HalfBytes scale;
  std::uint8_t codes[16];
};
inline constexpr std::int8_t unequal_steps[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};

// 256 values. Two-bit codes lie four to a byte: values 128 n + 32 j + l (j < 4, l < 32) are bits 2 j and 2 j + 1 of
// codes[32 n + l].

struct Q2_K {              // parts of 16: scale * (parts[i] & 15) * code - minimum * (parts[i] >> 4)
  std::uint8_t parts[16];  // of values 16 i on
  std::uint8_t codes[64];  // two bits
  HalfBytes scale, minimum;
};
struct Q3_K {              // parts of 16: scale * (part - 32) * (code - 4)
  std::uint8_t high[32];   // the third bit: value 32 j + l has bit j of high[l]
  std::uint8_t codes[64];  // two bits
  std::uint8_t parts[12];  // 6 bits each: the lower 4 of part i (i < 8) are the low half of parts[i], of part 8 + i the
                           // high half; the upper 2 of part 4 j + i (i < 4) are bits 2 j and 2 j + 1 of parts[8 + i]
  HalfBytes scale;
};
struct Q4_K {  // parts of 32: scale * part * code - minimum * part's minimum
  HalfBytes scale, minimum;
  std::uint8_t parts[12];   // 6 bits each. Parts i < 4: scale parts[i] & 63, minimum parts[4 + i] & 63. Parts 4 + i:
                            // their lower 4 bits are the halves of parts[8 + i] (scale low, minimum high), the upper 2
                            // bits of scale and minimum the top of parts[i] and parts[4 + i]
  std::uint8_t codes[128];  // values 64 n + l (l < 32) are the low half of codes[32 n + l], 64 n + 32 + l the high half
};
struct Q5_K {  // as Q4_K, codes of 5 bits
  HalfBytes scale, minimum;
  std::uint8_t parts[12];
  std::uint8_t high[32];  // the fifth bit: value 32 j + l has bit j of high[l]
  std::uint8_t codes[128];
};
struct Q6_K {               // parts of 16: scale * parts[i] * (code - 32)
  std::uint8_t codes[128];  // lower 4 bits: values 128 n + l (l < 64) are the low half of codes[64 n + l], 64 later the
                            // high half
  std::uint8_t high[64];    // upper 2 bits, laid out as two-bit codes are
  std::int8_t parts[16];
  HalfBytes scale;
};
struct IQ4_XS {  // parts of 32: scale * (part - 32) * unequal_steps[code]
  HalfBytes scale;
  std::uint8_t parts_high[2];  // the upper 2 of a part's 6 bits: bits 2 i and 2 i + 1 of the 16, for part i
  std::uint8_t parts_low[4];   // the lower 4: halves of parts_low[i / 2], even parts low
  std::uint8_t codes[128];     // part i: 16 bytes as in IQ4_NL
};

/// The 6-bit scales and minima of the 8 parts of a Q4_K or Q5_K block.
struct SixBits {
  std::uint8_t scale[8], minimum[8];

  explicit SixBits(const std::uint8_t (&parts)[12]) {
    for (int i = 0; i < 4; ++i) {
      scale[i] = parts[i] & 63;
      minimum[i] = parts[4 + i] & 63;
      scale[4 + i] = static_cast<std::uint8_t>((parts[8 + i] & 15) | (parts[i] >> 6) << 4);
      minimum[4 + i] = static_cast<std::uint8_t>(parts[8 + i] >> 4 | (parts[4 + i] >> 6) << 4);
    }
  }
  SixBits() : scale{}, minimum{} {}
  void write(std::uint8_t (&parts)[12]) const {
    for (int i = 0; i < 4; ++i) {
      parts[i] = static_cast<std::uint8_t>(scale[i] | (scale[4 + i] >> 4) << 6);
      parts[4 + i] = static_cast<std::uint8_t>(minimum[i] | (minimum[4 + i] >> 4) << 6);
      parts[8 + i] = static_cast<std::uint8_t>((scale[4 + i] & 15) | (minimum[4 + i] & 15) << 4);
    }
  }
};

/// The C++ type of a format's block.
template <QuantisedFormat>
struct TypeOf;
#define ATTUNE_BLOCK(name, count, size)    \
  template <>                              \
  struct TypeOf<QuantisedFormat::name> {   \
    using Type = name;                     \
    static constexpr int values = (count); \
    static_assert(sizeof(name) == (size)); \
  };
ATTUNE_BLOCK(Q4_0, 32, 18)
ATTUNE_BLOCK(Q4_1, 32, 20)
ATTUNE_BLOCK(Q5_0, 32, 22)
ATTUNE_BLOCK(Q5_1, 32, 24)
ATTUNE_BLOCK(Q8_0, 32, 34)
ATTUNE_BLOCK(Q2_K, 256, 84)
ATTUNE_BLOCK(Q3_K, 256, 110)
ATTUNE_BLOCK(Q4_K, 256, 144)
ATTUNE_BLOCK(Q5_K, 256, 176)
ATTUNE_BLOCK(Q6_K, 256, 210)
ATTUNE_BLOCK(IQ4_NL, 32, 18)
ATTUNE_BLOCK(IQ4_XS, 256, 136)
#undef ATTUNE_BLOCK

}  // namespace attune::kernels::blocks
