#pragma once

#include <cstddef>
#include <cstdint>

#include "attune/tensor/quantised.h"

/// Between quantised_matmul.cpp and int8_matmul.cpp, which cut the work, and quantised_kernels.cpp, which holds the
/// vector code. Nobody else includes this.
///
/// Everything rests on one layout: codes of 32 outputs, four neighbouring inputs of an output in four bytes,
/// [inputs / 4, 32, 4]. One instruction then multiplies the four inputs of 4, 8 or 16 outputs by the same four bytes of
/// x and adds them up in 32 bits, and no sum ever crosses a vector.
namespace attune::kernels {

inline constexpr std::int64_t tile_outputs = 32;
inline constexpr std::int64_t tile_inputs = 768;  // at most, at once: 24 KiB of codes stay in the first cache
inline constexpr std::int64_t x_block = 32;       // values of x that share a scale

/// How a format's values come from its codes: scale * (code - offset) + addend.
struct CodeRule {
  int part;    // neighbouring values with one scale: 16 or 32
  int offset;  // codes without a sign begin at 0
  bool has_addend;
  bool has_sign;  // codes from -128 to 127; the others are from 0 to 63
};
constexpr CodeRule code_rule(QuantisedFormat format) {
  switch (format) {
    case QuantisedFormat::Q4_0:
      return {32, 8, false, false};
    case QuantisedFormat::Q5_0:
      return {32, 16, false, false};
    case QuantisedFormat::Q2_K:
      return {16, 0, true, false};
    case QuantisedFormat::Q3_K:
      return {16, 4, false, false};
    case QuantisedFormat::Q6_K:
      return {16, 32, false, false};
    case QuantisedFormat::Q8_0:
    case QuantisedFormat::IQ4_NL:
    case QuantisedFormat::IQ4_XS:
      return {32, 0, false, true};
    default:  // Q4_1, Q5_1, Q4_K, Q5_K
      return {32, 0, true, false};
  }
}

/// 32 outputs' weights for some inputs, unpacked.
struct CodeTile {
  std::uint8_t* codes;  // [inputs / 4, 32, 4]; codes with a sign as the kernels' `sign_offset` says
  float* scales;        // [inputs / part, 32]
  float* addends;       // [inputs / part, 32], where the format has them
};

/// The blocks of 32 outputs for some inputs.
struct PackedOutputs {
  const std::uint8_t* data;
  std::int64_t stride;        // bytes from one output to the next
  std::int64_t inputs;        // a multiple of the format's block
  const std::uint8_t* ahead;  // memory that will be wanted next: asked for while this is worked on, as much of it
};

/// Codes of x are 128 high + low: high from -127 to 127, low from -64 to 63.
inline constexpr int low_bits = 7;
inline constexpr int largest_code = 127 << low_bits;

/// Some rows of x, rounded to whole numbers in blocks of 32.
struct CodedRows {
  const std::int8_t *high, *low;  // [rows, inputs]
  const float* scales;            // [rows, inputs / 32]
  const std::int32_t* starts;     // [rows, inputs / part]: what each integer sum begins with
  const float* sums;              // [rows, inputs / part]: what x adds up to; null for formats without addends
  std::int64_t codes_stride, scales_stride, parts_stride;  // from row to row
};

/// y[i, j] += x's rows times a tile, part after part: y = fma(integer sum * w's scale, x's scale, y), then
/// y = fma(addend, x's sum, y).
struct TileProduct {
  CodeTile tile;
  CodedRows x;
  std::int64_t inputs;
  float* y;  // [rows, 32]
};

/// y[i, j] = bias[j] + (starts[i] + the sum over all inputs of codes, in whole numbers) * (w_scales[j] * x_scales[i]).
struct WholeProduct {
  const std::uint8_t* codes;   // [inputs / 4, 32, 4]
  const float* w_scales;       // [32]
  const float* bias;           // [32] or null
  const std::int8_t* x;        // [rows, inputs]
  std::int64_t inputs;         // a multiple of 4; the row stride of x too
  const float* x_scales;       // [rows]
  const std::int32_t* starts;  // [rows]
  float* y;                    // [rows, 32]
  std::int64_t y_stride;
};

/// What a row of x with a single scale was rounded by, and the sum of its codes.
struct RowCode {
  float scale;
  std::int32_t sum;
};

/// Where `count` values' codes, scales and sums of codes go.
struct BlockCodes {
  std::int8_t *high, *low;  // [count]
  float* scales;            // [count / 32]
  std::int32_t* sums;       // [count / 16]
};

struct IntegerKernels {
  /// What is added to codes that have a sign before they are kept: 128 where the multiplication wants them without one,
  /// else 0.
  int sign_offset;
  void (*unpack[all_quantised_formats.size()])(const PackedOutputs& from, const CodeTile& to);
  /// For any number of rows.
  void (*multiply[all_quantised_formats.size()])(const TileProduct& product, std::int64_t rows);
  /// Both for one row, whose y is [32], without a tile between, to the same bits.
  void (*multiply_one[all_quantised_formats.size()])(const PackedOutputs& from, const CodedRows& x, float* y);
  void (*multiply_whole)(const WholeProduct& product, std::int64_t rows);
  /// The scales (largest magnitude / largest_code) and codes of blocks of 32 values of x, and the sums of each 16
  /// codes. A block that holds an infinite value or NaN gets the scale NaN.
  void (*encode)(const float* x, std::int64_t count, const BlockCodes& to);
  /// One scale for `count` values, any number, and the sum of the codes; codes up to the next multiple of 4 are 0.
  RowCode (*encode_row)(const float* x, std::int64_t count, std::int8_t* codes);
  /// For byte_multiply_add_rate(): multiplications that wait for nothing. Returns the operations done.
  double (*plain_products)(std::int64_t steps, std::int32_t* out);
};

/// Instructions for dot products of bytes that this CPU has: on vectors of AVX-512, of AVX2.
struct DotInstructions {
  bool wide = false, narrow = false;
};

/// For the best target that this CPU has.
const IntegerKernels& integer_kernels();

/// Tests turn it off to run the code for CPUs without instructions for dot products of bytes (VNNI).
void use_dot_product_instructions(bool use);

}  // namespace attune::kernels
