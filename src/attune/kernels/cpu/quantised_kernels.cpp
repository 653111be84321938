#include "attune/kernels/cpu/quantised_kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/quantised_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "attune/kernels/cpu/dot-inl.h"
#include "attune/kernels/cpu/packed_product-inl.h"
#include "attune/kernels/cpu/unpack-inl.h"
#include "attune/kernels/cpu/unpack_k-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64
constexpr int tile_vectors = 2;  // at once: 32 registers hold 6 rows of them twice, as integers and as floats
#else
constexpr int tile_vectors = 1;
#endif

template <QuantisedFormat kFormat, int kSignOffset>
void unpack(const PackedOutputs& from, const CodeTile& to) {
  using Block = blocks::TypeOf<kFormat>;
  constexpr std::int64_t bytes = sizeof(typename Block::Type), line = 64;
  constexpr int part = code_rule(kFormat).part;
  for (std::int64_t block = 0; block < from.inputs / Block::values; ++block) {
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < bytes * tile_outputs; i += line)
      __builtin_prefetch(from.ahead + block * bytes * tile_outputs + i, 0, 2);
    for (std::int64_t first = 0; first < tile_outputs; first += dot_lanes) {
      const std::int64_t scales = block * (Block::values / part) * tile_outputs + first;
      auto* codes = reinterpret_cast<std::uint32_t*>(to.codes) + block * (Block::values / 4) * tile_outputs + first;
      const TileWriter<kSignOffset> writer{codes, to.scales + scales, to.addends + scales};
      Unpack<kFormat>::run({from.data + first * from.stride + block * bytes, from.stride}, writer);
    }
  }
}

/// sums[r][v] += codes of vector v times row r of x, for 4 kWords inputs.
template <class Dot, bool kSign, int kRows, int kWords>
HWY_INLINE void add_products(const std::uint8_t* codes, const std::int8_t* x, std::int64_t x_stride,
                             IntegerVector (&sums)[kRows][tile_vectors]) {
  const DotWords d;
  const auto* words = reinterpret_cast<const std::uint32_t*>(codes);
  ATTUNE_UNROLL
  for (int i = 0; i < kWords; ++i) {
    WordVector w[tile_vectors];
    ATTUNE_UNROLL
    for (int v = 0; v < tile_vectors; ++v) w[v] = hn::Load(d, words + i * tile_outputs + v * dot_lanes);
    ATTUNE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const WordVector four = hn::Set(d, four_bytes(x + r * x_stride + 4 * i));
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) sums[r][v] = Dot::template add<kSign>(sums[r][v], w[v], four);
    }
  }
}

template <int kPart, bool kAddend, bool kSign>
struct Kind {
  static constexpr int part = kPart;
  static constexpr bool has_addend = kAddend, has_sign = kSign;
};

/// Rows `row` to `row` + kRows - 1.
template <class Dot, class K, int kRows>
HWY_NOINLINE void multiply_rows(const TileProduct& p, std::int64_t row) {
  const DotFloats d;
  const DotIntegers di;
  const std::int8_t *high = p.x.high + row * p.x.codes_stride, *low = p.x.low + row * p.x.codes_stride;
  const float* x_scales = p.x.scales + row * p.x.scales_stride;
  const std::int32_t* starts = p.x.starts + row * p.x.parts_stride;
  const float* x_sums = K::has_addend ? p.x.sums + row * p.x.parts_stride : nullptr;
  (void)x_sums;
  for (std::int64_t first = 0; first < tile_outputs; first += tile_vectors * dot_lanes) {
    float* out = p.y + row * tile_outputs + first;
    FloatVector y[kRows][tile_vectors];
    ATTUNE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) y[r][v] = hn::Load(d, out + r * tile_outputs + v * dot_lanes);
    }
    for (std::int64_t part = 0; part < p.inputs / K::part; ++part) {
      IntegerVector sums[kRows][tile_vectors];
      ATTUNE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        ATTUNE_UNROLL
        for (int v = 0; v < tile_vectors; ++v) sums[r][v] = hn::Zero(di);
      }
      const std::uint8_t* codes = p.tile.codes + part * K::part * tile_outputs + 4 * first;
      add_products<Dot, K::has_sign, kRows, K::part / 4>(codes, high + part * K::part, p.x.codes_stride, sums);
      ATTUNE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const IntegerVector start = hn::Set(di, starts[r * p.x.parts_stride + part]);
        ATTUNE_UNROLL
        for (int v = 0; v < tile_vectors; ++v) sums[r][v] = hn::Add(hn::ShiftLeft<low_bits>(sums[r][v]), start);
      }
      add_products<Dot, K::has_sign, kRows, K::part / 4>(codes, low + part * K::part, p.x.codes_stride, sums);
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) {
        const std::int64_t at = part * tile_outputs + first + v * dot_lanes;
        const FloatVector scale = hn::Load(d, p.tile.scales + at);
        ATTUNE_UNROLL
        for (int r = 0; r < kRows; ++r) {
          const FloatVector x_scale = hn::Set(d, x_scales[r * p.x.scales_stride + part * K::part / x_block]);
          y[r][v] = hn::MulAdd(hn::Mul(hn::ConvertTo(d, sums[r][v]), scale), x_scale, y[r][v]);
        }
        if constexpr (K::has_addend) {
          const FloatVector addend = hn::Load(d, p.tile.addends + at);
          ATTUNE_UNROLL
          for (int r = 0; r < kRows; ++r)
            y[r][v] = hn::MulAdd(addend, hn::Set(d, x_sums[r * p.x.parts_stride + part]), y[r][v]);
        }
      }
    }
    ATTUNE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) hn::Store(y[r][v], d, out + r * tile_outputs + v * dot_lanes);
    }
  }
}

template <class Dot, class K>
void multiply(const TileProduct& p, std::int64_t rows) {
  std::int64_t row = 0;
  for (; row + 6 <= rows; row += 6) multiply_rows<Dot, K, 6>(p, row);
  if (row + 4 <= rows) multiply_rows<Dot, K, 4>(p, row), row += 4;
  if (row + 2 <= rows) multiply_rows<Dot, K, 2>(p, row), row += 2;
  if (row < rows) multiply_rows<Dot, K, 1>(p, row);
}

template <class Dot, int kRows>
HWY_NOINLINE void multiply_whole_rows(const WholeProduct& p, std::int64_t row) {
  const DotFloats d;
  const DotIntegers di;
  for (std::int64_t first = 0; first < tile_outputs; first += tile_vectors * dot_lanes) {
    const std::int8_t* x = p.x + row * p.inputs;
    const std::uint8_t* codes = p.codes + 4 * first;
    IntegerVector sums[kRows][tile_vectors];
    ATTUNE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) sums[r][v] = hn::Set(di, p.starts[row + r]);
    }
    std::int64_t k = 0;
    for (; k + 16 <= p.inputs; k += 16)
      add_products<Dot, true, kRows, 4>(codes + k * tile_outputs, x + k, p.inputs, sums);
    for (; k < p.inputs; k += 4) add_products<Dot, true, kRows, 1>(codes + k * tile_outputs, x + k, p.inputs, sums);
    ATTUNE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const FloatVector x_scale = hn::Set(d, p.x_scales[row + r]);
      ATTUNE_UNROLL
      for (int v = 0; v < tile_vectors; ++v) {
        const std::int64_t j = first + v * dot_lanes;
        FloatVector y = hn::Mul(hn::ConvertTo(d, sums[r][v]), hn::Mul(hn::LoadU(d, p.w_scales + j), x_scale));
        if (p.bias) y = hn::Add(y, hn::LoadU(d, p.bias + j));
        hn::StoreU(y, d, p.y + (row + r) * p.y_stride + j);
      }
    }
  }
}

template <class Dot>
void multiply_whole(const WholeProduct& p, std::int64_t rows) {
  std::int64_t row = 0;
  for (; row + 8 <= rows; row += 8) multiply_whole_rows<Dot, 8>(p, row);
  if (row + 4 <= rows) multiply_whole_rows<Dot, 4>(p, row), row += 4;
  if (row + 2 <= rows) multiply_whole_rows<Dot, 2>(p, row), row += 2;
  if (row < rows) multiply_whole_rows<Dot, 1>(p, row);
}

/// Below this a block counts as 0: the inverse of its scale would be no number.
constexpr float smallest_magnitude = 1e-30f;

HWY_INLINE IntegerVector codes_of(FloatVector x, FloatVector inverse, int largest) {
  const DotIntegers di;
  // The bounds are for blocks that hold NaN.
  return hn::Min(hn::Max(hn::NearestInt(hn::Mul(x, inverse)), hn::Set(di, -largest)), hn::Set(di, largest));
}

void encode(const float* x, std::int64_t count, const BlockCodes& to) {
  const DotFloats d;
  const DotIntegers di;
  const hn::Rebind<std::int8_t, DotFloats> d8;
  for (std::int64_t i = 0; i < count; i += x_block) {
    FloatVector largest = hn::Zero(d), doubt = hn::Zero(d);
    for (std::int64_t j = 0; j < x_block; j += dot_lanes) {
      const FloatVector v = hn::LoadU(d, x + i + j);
      largest = hn::Max(largest, hn::Abs(v));
      doubt = hn::MulAdd(v, hn::Zero(d), doubt);  // 0, or NaN where a value is not finite
    }
    const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
    const bool finite = hn::AllTrue(d, hn::Eq(doubt, hn::Zero(d)));
    to.scales[i / x_block] = finite ? most / largest_code : std::numeric_limits<float>::quiet_NaN();
    const FloatVector inverse = hn::Set(d, most > smallest_magnitude ? largest_code / most : 0.0f);
    for (std::int64_t half = 0; half < x_block; half += 16) {
      IntegerVector sum = hn::Zero(di);
      for (std::int64_t j = half; j < half + 16; j += dot_lanes) {
        const IntegerVector n = codes_of(hn::LoadU(d, x + i + j), inverse, largest_code);
        const IntegerVector high = hn::ShiftRight<low_bits>(hn::Add(n, hn::Set(di, 1 << (low_bits - 1))));
        hn::StoreU(hn::DemoteTo(d8, high), d8, to.high + i + j);
        hn::StoreU(hn::DemoteTo(d8, hn::Sub(n, hn::ShiftLeft<low_bits>(high))), d8, to.low + i + j);
        sum = hn::Add(sum, n);
      }
      to.sums[(i + half) / 16] = hn::GetLane(hn::SumOfLanes(di, sum));
    }
  }
}

RowCode encode_row(const float* x, std::int64_t count, std::int8_t* codes) {
  const DotFloats d;
  const DotIntegers di;
  const hn::Rebind<std::int8_t, DotFloats> d8;
  const std::int64_t whole = count / dot_lanes * dot_lanes;
  FloatVector largest = hn::Zero(d), doubts = hn::Zero(d);
  for (std::int64_t i = 0; i < whole; i += dot_lanes) {
    const FloatVector v = hn::LoadU(d, x + i);
    largest = hn::Max(largest, hn::Abs(v));
    doubts = hn::MulAdd(v, hn::Zero(d), doubts);
  }
  float most = hn::GetLane(hn::MaxOfLanes(d, largest)), doubt = hn::GetLane(hn::SumOfLanes(d, doubts));
  for (std::int64_t i = whole; i < count; ++i) most = std::max(most, std::abs(x[i])), doubt += 0 * x[i];
  const float inverse = most > smallest_magnitude ? 127 / most : 0.0f;
  IntegerVector sums = hn::Zero(di);
  for (std::int64_t i = 0; i < whole; i += dot_lanes) {
    const IntegerVector n = codes_of(hn::LoadU(d, x + i), hn::Set(d, inverse), 127);
    hn::StoreU(hn::DemoteTo(d8, n), d8, codes + i);
    sums = hn::Add(sums, n);
  }
  std::int32_t sum = hn::GetLane(hn::SumOfLanes(di, sums));
  for (std::int64_t i = whole; i < count; ++i) {
    const float n = std::nearbyint(x[i] * inverse);
    codes[i] = static_cast<std::int8_t>(n >= 127 ? 127 : n > -127 ? n : -127);
    sum += codes[i];
  }
  for (std::int64_t i = count; i % 4 != 0; ++i) codes[i] = 0;
  return {most / 127 + doubt, sum};
}

/// Ten chains, which hide the latency.
template <class Dot>
double plain_products(std::int64_t steps, std::int32_t* out) {
  constexpr int chains = 10;
  const DotWords d;
  const DotIntegers di;
  const WordVector codes = hn::Set(d, 0x01020304u), x = hn::Set(d, static_cast<std::uint32_t>(out[0]));
  IntegerVector sums[chains];
  ATTUNE_UNROLL
  for (int i = 0; i < chains; ++i) sums[i] = hn::Set(di, i);
  for (std::int64_t step = 0; step < steps; ++step) {
    ATTUNE_UNROLL
    for (int i = 0; i < chains; ++i) sums[i] = Dot::template add<false>(sums[i], codes, x);
  }
  ATTUNE_UNROLL
  for (int i = 1; i < chains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  out[0] = hn::GetLane(sums[0]);
  return 2.0 * 4.0 * chains * static_cast<double>(steps) * static_cast<double>(dot_lanes);
}

template <class Dot, QuantisedFormat kFormat>
void add_format(IntegerKernels& k) {
  constexpr CodeRule rule = code_rule(kFormat);
  k.unpack[static_cast<int>(kFormat)] = &unpack<kFormat, Dot::sign_offset>;
  k.multiply_one[static_cast<int>(kFormat)] = &multiply_one<Dot, kFormat>;
  k.multiply[static_cast<int>(kFormat)] = &multiply<Dot, Kind<rule.part, rule.has_addend, rule.has_sign>>;
}

template <class Dot>
IntegerKernels kernels_with() {
  IntegerKernels k{};
  k.sign_offset = Dot::sign_offset;
  add_format<Dot, QuantisedFormat::Q4_0>(k);
  add_format<Dot, QuantisedFormat::Q4_1>(k);
  add_format<Dot, QuantisedFormat::Q5_0>(k);
  add_format<Dot, QuantisedFormat::Q5_1>(k);
  add_format<Dot, QuantisedFormat::Q8_0>(k);
  add_format<Dot, QuantisedFormat::Q2_K>(k);
  add_format<Dot, QuantisedFormat::Q3_K>(k);
  add_format<Dot, QuantisedFormat::Q4_K>(k);
  add_format<Dot, QuantisedFormat::Q5_K>(k);
  add_format<Dot, QuantisedFormat::Q6_K>(k);
  add_format<Dot, QuantisedFormat::IQ4_NL>(k);
  add_format<Dot, QuantisedFormat::IQ4_XS>(k);
  k.multiply_whole = &multiply_whole<Dot>;
  k.encode = &encode;
  k.encode_row = &encode_row;
  k.plain_products = &plain_products<Dot>;
  return k;
}

const IntegerKernels* kernels_of_target(const DotInstructions& there) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  static const IntegerKernels with_instructions = kernels_with<InstructionDot>();
  if (HWY_TARGET <= HWY_AVX3 ? there.wide : there.narrow) return &with_instructions;
#endif
  (void)there;
  static const IntegerKernels without = kernels_with<PairsDot>();
  return &without;
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(kernels_of_target);

namespace {

std::atomic<bool> instructions_wanted{true};

DotInstructions instructions_of_cpu() {
  DotInstructions there;
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) there.wide = c >> 11 & 1u;   // AVX512_VNNI
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) there.narrow = a >> 4 & 1u;  // AVX-VNNI
#endif
  return there;
}

}  // namespace

const IntegerKernels& integer_kernels() {
  static const DotInstructions there = instructions_of_cpu();
  return *HWY_DYNAMIC_DISPATCH(kernels_of_target)(instructions_wanted ? there : DotInstructions{});
}

void use_dot_product_instructions(bool use) { instructions_wanted = use; }

}  // namespace attune::kernels
#endif
