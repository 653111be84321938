#include "attune/kernels/reference/dequantise.h"

#include <algorithm>
#include <vector>

#include "attune/base/threads.h"
#include "attune/kernels/quantised_blocks.h"

namespace attune::kernels {

namespace {

using namespace blocks;

std::uint32_t bits_of(const std::uint8_t (&b)[4]) {
  return b[0] | static_cast<std::uint32_t>(b[1]) << 8 | static_cast<std::uint32_t>(b[2]) << 16 |
         static_cast<std::uint32_t>(b[3]) << 24;
}

int low(std::uint8_t byte) { return byte & 15; }
int high(std::uint8_t byte) { return byte >> 4; }

void expand(const Q4_0& b, float* y) {
  const float scale = b.scale.value();
  for (int i = 0; i < 16; ++i) {
    y[i] = scale * static_cast<float>(low(b.codes[i]) - 8);
    y[16 + i] = scale * static_cast<float>(high(b.codes[i]) - 8);
  }
}

void expand(const Q4_1& b, float* y) {
  const float scale = b.scale.value(), addend = b.addend.value();
  for (int i = 0; i < 16; ++i) {
    y[i] = scale * static_cast<float>(low(b.codes[i])) + addend;
    y[16 + i] = scale * static_cast<float>(high(b.codes[i])) + addend;
  }
}

/// The 5-bit code of value i of 32.
int five_bits(const std::uint8_t (&codes)[16], std::uint32_t top, int i) {
  const int lower = i < 16 ? low(codes[i]) : high(codes[i - 16]);
  return lower | static_cast<int>(top >> i & 1u) << 4;
}

void expand(const Q5_0& b, float* y) {
  const float scale = b.scale.value();
  const std::uint32_t top = bits_of(b.high);
  for (int i = 0; i < 32; ++i) y[i] = scale * static_cast<float>(five_bits(b.codes, top, i) - 16);
}

void expand(const Q5_1& b, float* y) {
  const float scale = b.scale.value(), addend = b.addend.value();
  const std::uint32_t top = bits_of(b.high);
  for (int i = 0; i < 32; ++i) y[i] = scale * static_cast<float>(five_bits(b.codes, top, i)) + addend;
}

void expand(const Q8_0& b, float* y) {
  const float scale = b.scale.value();
  for (int i = 0; i < 32; ++i) y[i] = scale * static_cast<float>(b.codes[i]);
}

void expand(const IQ4_NL& b, float* y) {
  const float scale = b.scale.value();
  for (int i = 0; i < 16; ++i) {
    y[i] = scale * static_cast<float>(unequal_steps[low(b.codes[i])]);
    y[16 + i] = scale * static_cast<float>(unequal_steps[high(b.codes[i])]);
  }
}

/// The two-bit number of value i of 256.
int two_bits(const std::uint8_t* bytes, int i) { return bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }

void expand(const Q2_K& b, float* y) {
  const float scale = b.scale.value(), minimum = b.minimum.value();
  for (int i = 0; i < 256; ++i) {
    const std::uint8_t part = b.parts[i / 16];
    const float s = scale * static_cast<float>(low(part)), m = minimum * static_cast<float>(high(part));
    y[i] = s * static_cast<float>(two_bits(b.codes, i)) - m;
  }
}

void expand(const Q3_K& b, float* y) {
  const float scale = b.scale.value();
  for (int i = 0; i < 256; ++i) {
    const int part = i / 16;
    const int lower = part < 8 ? low(b.parts[part]) : high(b.parts[part - 8]);
    const int upper = b.parts[8 + part % 4] >> (part / 4 * 2) & 3;
    const int code = two_bits(b.codes, i) | (b.high[i % 32] >> (i / 32) & 1) << 2;
    y[i] = scale * static_cast<float>((lower | upper << 4) - 32) * static_cast<float>(code - 4);
  }
}

template <class Block, class Code>
void expand_six_bits(const Block& b, float* y, Code&& code) {
  const float scale = b.scale.value(), minimum = b.minimum.value();
  const SixBits parts(b.parts);
  for (int i = 0; i < 256; ++i) {
    const float s = scale * static_cast<float>(parts.scale[i / 32]);
    const float m = minimum * static_cast<float>(parts.minimum[i / 32]);
    y[i] = s * static_cast<float>(code(i)) - m;
  }
}

int four_bits(const std::uint8_t (&codes)[128], int i) {
  const std::uint8_t byte = codes[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? low(byte) : high(byte);
}

void expand(const Q4_K& b, float* y) {
  expand_six_bits(b, y, [&](int i) { return four_bits(b.codes, i); });
}

void expand(const Q5_K& b, float* y) {
  expand_six_bits(b, y, [&](int i) { return four_bits(b.codes, i) | (b.high[i % 32] >> (i / 32) & 1) << 4; });
}

void expand(const Q6_K& b, float* y) {
  const float scale = b.scale.value();
  for (int i = 0; i < 256; ++i) {
    const std::uint8_t byte = b.codes[i / 128 * 64 + i % 64];
    const int code = (i % 128 < 64 ? low(byte) : high(byte)) | two_bits(b.high, i) << 4;
    y[i] = scale * static_cast<float>(b.parts[i / 16]) * static_cast<float>(code - 32);
  }
}

void expand(const IQ4_XS& b, float* y) {
  const float scale = b.scale.value();
  const int upper = b.parts_high[0] | b.parts_high[1] << 8;
  for (int part = 0; part < 8; ++part, y += 32) {
    const int lower = part % 2 == 0 ? low(b.parts_low[part / 2]) : high(b.parts_low[part / 2]);
    const float s = scale * static_cast<float>((lower | (upper >> 2 * part & 3) << 4) - 32);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * static_cast<float>(unequal_steps[low(b.codes[16 * part + i])]);
      y[16 + i] = s * static_cast<float>(unequal_steps[high(b.codes[16 * part + i])]);
    }
  }
}

template <QuantisedFormat kFormat>
void expand_all(const std::byte* bytes, std::span<float> values) {
  using Block = typename TypeOf<kFormat>::Type;
  const auto* block = reinterpret_cast<const Block*>(bytes);
  const auto each = static_cast<std::size_t>(block_of(kFormat).values);
  for (std::size_t i = 0; i + each <= values.size(); i += each) expand(*block++, values.data() + i);
}

}  // namespace

void dequantise(QuantisedFormat format, const std::byte* bytes, std::span<float> values) {
  using F = QuantisedFormat;
  switch (format) {
    case F::Q4_0:
      return expand_all<F::Q4_0>(bytes, values);
    case F::Q4_1:
      return expand_all<F::Q4_1>(bytes, values);
    case F::Q5_0:
      return expand_all<F::Q5_0>(bytes, values);
    case F::Q5_1:
      return expand_all<F::Q5_1>(bytes, values);
    case F::Q8_0:
      return expand_all<F::Q8_0>(bytes, values);
    case F::Q2_K:
      return expand_all<F::Q2_K>(bytes, values);
    case F::Q3_K:
      return expand_all<F::Q3_K>(bytes, values);
    case F::Q4_K:
      return expand_all<F::Q4_K>(bytes, values);
    case F::Q5_K:
      return expand_all<F::Q5_K>(bytes, values);
    case F::Q6_K:
      return expand_all<F::Q6_K>(bytes, values);
    case F::IQ4_NL:
      return expand_all<F::IQ4_NL>(bytes, values);
    case F::IQ4_XS:
      return expand_all<F::IQ4_XS>(bytes, values);
  }
}

namespace {

template <class T>
void gather(const QuantisedRows& table, std::span<const std::int64_t> indices, const Rows<T>& y) {
  if (y.width == 0) return;
  parallel(y.count, std::max<std::int64_t>(1, (1 << 13) / y.width), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> row(static_cast<std::size_t>(y.width));
    for (std::int64_t i = begin; i < end; ++i) {
      dequantise(table.format, table[indices[static_cast<std::size_t>(i)]], row);
      std::copy(row.begin(), row.end(), y[i]);
    }
  });
}

}  // namespace

void gather_rows(const QuantisedRows& table, std::span<const std::int64_t> indices, const Rows<float>& y) {
  gather(table, indices, y);
}
void gather_rows(const QuantisedRows& table, std::span<const std::int64_t> indices, const Rows<double>& y) {
  gather(table, indices, y);
}

}  // namespace attune::kernels
