// A row of x times blocks of quantised weights, multiplied as they are unpacked. Compiled once for each instruction
// set.
#if defined(ATTUNE_KERNELS_CPU_PACKED_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_PACKED_PRODUCT_INL_H_
#undef ATTUNE_KERNELS_CPU_PACKED_PRODUCT_INL_H_
#else
#define ATTUNE_KERNELS_CPU_PACKED_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "attune/kernels/cpu/quantised_kernels.h"
#include "attune/kernels/cpu/unpack-inl.h"
#include "attune/kernels/cpu/unpack_k-inl.h"
#include "attune/kernels/cpu/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE std::uint32_t four_bytes(const std::int8_t* x) {
  std::uint32_t word;
  std::memcpy(&word, x, sizeof word);
  return word;
}

/// Multiplies codes by one row of x as they are unpacked.
template <class Dot, int kPart, bool kAddend, bool kSign, int kParts>
struct ProductWriter {
  const std::int8_t *high, *low;    // of x
  IntegerVector *of_high, *of_low;  // [parts]
  FloatVector *scales, *addends;    // [parts]

  HWY_INLINE void add(int word, WordVector v) const {
    IntegerVector &sum = of_high[word / (kPart / 4)], &rest = of_low[word / (kPart / 4)];
    sum = Dot::template add<kSign>(sum, v, hn::Set(DotWords(), four_bytes(high + 4 * word)));
    rest = Dot::template add<kSign>(rest, v, hn::Set(DotWords(), four_bytes(low + 4 * word)));
  }
  HWY_INLINE void code(int word, WordVector v) const { add(word, v); }
  HWY_INLINE void code_with_sign(int word, WordVector v) const {
    add(word, Dot::sign_offset == 0 ? v : hn::Xor(v, each_byte(0x80)));
  }
  HWY_INLINE void scale(int part, FloatVector v) const { scales[part] = v; }
  HWY_INLINE void addend(int part, FloatVector v) const { addends[part] = v; }
};

/// One vector of outputs for one or several blocks: y goes on as multiply_rows() has it, to the same bits.
template <class Dot, QuantisedFormat kFormat, class Unpacking, int kBlocks>
HWY_INLINE FloatVector multiply_block(const PackedRows& rows, std::int64_t block, const CodedRows& x, FloatVector y) {
  using Block = blocks::TypeOf<kFormat>;
  constexpr CodeRule rule = code_rule(kFormat);
  constexpr int parts = kBlocks * Block::values / rule.part;
  const DotFloats d;
  const std::int64_t first = block * (Block::values / rule.part);
  const DotIntegers di;
  IntegerVector of_high[parts], of_low[parts];
  FloatVector scales[parts], addends[parts];
  ATTUNE_UNROLL
  for (int i = 0; i < parts; ++i) of_high[i] = hn::Zero(di), of_low[i] = hn::Set(di, x.starts[first + i]);
  const std::int64_t at = block * Block::values;
  const ProductWriter<Dot, rule.part, rule.has_addend, rule.has_sign, parts> writer{x.high + at, x.low + at, of_high,
                                                                                    of_low,      scales,     addends};
  Unpacking::run(rows, writer);
  ATTUNE_UNROLL
  for (int i = 0; i < parts; ++i) {
    const FloatVector x_scale = hn::Set(d, x.scales[(first + i) * rule.part / x_block]);
    const IntegerVector sum = hn::Add(hn::ShiftLeft<low_bits>(of_high[i]), of_low[i]);
    y = hn::MulAdd(hn::Mul(hn::ConvertTo(d, sum), scales[i]), x_scale, y);
    if constexpr (rule.has_addend) y = hn::MulAdd(addends[i], hn::Set(d, x.sums[first + i]), y);
  }
  return y;
}

template <class Dot, QuantisedFormat kFormat>
void multiply_one(const PackedOutputs& from, const CodedRows& x, float* y) {
  using Block = blocks::TypeOf<kFormat>;
  using Together = UnpackTogether<kFormat>;
  constexpr int vectors = static_cast<int>(tile_outputs / dot_lanes);
  constexpr std::int64_t bytes = sizeof(typename Block::Type), line = 64;
  constexpr std::int64_t bytes_of_vector = bytes * dot_lanes;
  const std::int64_t blocks = from.inputs / Block::values;
  const DotFloats d;
  for (int v = 0; v < vectors; ++v) {
    PackedRows rows(from.data + v * dot_lanes * from.stride, from.stride);
    const std::uint8_t* ahead = from.ahead + v * blocks * bytes_of_vector;
    FloatVector out = hn::Load(d, y + v * dot_lanes);
    std::int64_t block = 0;
    for (; block + Together::blocks <= blocks; block += Together::blocks) {
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < Together::blocks * bytes_of_vector; i += line)
        __builtin_prefetch(ahead + block * bytes_of_vector + i, 0, 2);
      out = multiply_block<Dot, kFormat, Together, Together::blocks>(rows, block, x, out);
      rows.go_on(Together::blocks * bytes);
    }
    for (; block < blocks; ++block) {
      for (std::int64_t i = 0; i < bytes_of_vector; i += line)
        __builtin_prefetch(ahead + block * bytes_of_vector + i, 0, 2);
      out = multiply_block<Dot, kFormat, Unpack<kFormat>, 1>(rows, block, x, out);
      rows.go_on(bytes);
    }
    hn::Store(out, d, y + v * dot_lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
