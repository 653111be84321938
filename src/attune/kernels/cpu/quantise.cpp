#include "attune/kernels/cpu/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/quantise_fit.h"
#include "attune/kernels/cpu/quantise_k.h"

namespace attune::kernels {

namespace {

using Values = std::span<const float>;
using kernels::compress;  // of the formats with K

std::uint8_t halves(float low, float high) {
  return static_cast<std::uint8_t>(static_cast<int>(low) | static_cast<int>(high) << 4);
}

void compress(Values x, blocks::Q8_0& b) {
  float most = 0;
  for (float v : x) most = std::max(most, std::abs(v));
  const Half scale = finite_half(most / 127);
  b.scale.set(scale);
  float codes[32];
  encode_affine(x, {to_float(scale), 0}, -127, 127, codes);
  for (int i = 0; i < 32; ++i) b.codes[i] = static_cast<std::int8_t>(codes[i]);
}

void compress(Values x, blocks::Q4_0& b) {
  float extreme = 0;
  for (float v : x)
    if (std::abs(v) > std::abs(extreme)) extreme = v;
  // What the search found, and the extreme value at the lowest code: whichever is better once it has been rounded.
  double least = std::numeric_limits<double>::infinity();
  for (float scale : {fit_scale(x, -8, 7), extreme / -8}) {
    const Half rounded = finite_half(scale);
    float codes[32];
    const double error = encode_affine(x, {to_float(rounded), 0}, -8, 7, codes);
    if (error >= least) continue;
    least = error;
    b.scale.set(rounded);
    for (int i = 0; i < 16; ++i) b.codes[i] = halves(codes[i] + 8, codes[16 + i] + 8);
  }
}

void compress(Values x, blocks::Q4_1& b) {
  const auto [smallest, largest] = std::minmax_element(x.begin(), x.end());
  double least = std::numeric_limits<double>::infinity();
  for (AffineFit fit : {fit_affine(x, 15, Addend::any), AffineFit{(*largest - *smallest) / 15, *smallest}}) {
    const Half scale = finite_half(fit.scale), addend = finite_half(fit.addend);
    float codes[32];
    const double error = encode_affine(x, {to_float(scale), to_float(addend)}, 0, 15, codes);
    if (error >= least) continue;
    least = error;
    b.scale.set(scale), b.addend.set(addend);
    for (int i = 0; i < 16; ++i) b.codes[i] = halves(codes[i], codes[16 + i]);
  }
}

template <QuantisedFormat kFormat>
void compress_row(Values x, std::byte* to) {
  using Type = blocks::TypeOf<kFormat>;
  auto* block = reinterpret_cast<typename Type::Type*>(to);
  for (std::size_t i = 0; i < x.size(); i += Type::values) compress(x.subspan(i, Type::values), *block++);
}

using CompressRow = void (*)(Values x, std::byte* to);

CompressRow compressor_of(QuantisedFormat format) {
  switch (format) {
    case QuantisedFormat::Q8_0:
      return &compress_row<QuantisedFormat::Q8_0>;
    case QuantisedFormat::Q4_0:
      return &compress_row<QuantisedFormat::Q4_0>;
    case QuantisedFormat::Q4_1:
      return &compress_row<QuantisedFormat::Q4_1>;
    case QuantisedFormat::Q4_K:
      return &compress_row<QuantisedFormat::Q4_K>;
    case QuantisedFormat::Q5_K:
      return &compress_row<QuantisedFormat::Q5_K>;
    case QuantisedFormat::Q6_K:
      return &compress_row<QuantisedFormat::Q6_K>;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_quantise(QuantisedFormat format) { return compressor_of(format) != nullptr; }

void quantise(QuantisedFormat format, const Rows<const float>& x, std::byte* to) {
  const CompressRow compress_one = compressor_of(format);
  check(compress_one != nullptr, "quantising: {} is read, not written: choose q8_0, q4_0, q4_1, q4_k, q5_k or q6_k",
        name_of(format));
  const QuantisedBlock block = block_of(format);
  check(x.width % block.values == 0, "quantising: rows of {} values are no whole blocks of {} ({} values each)",
        x.width, name_of(format), block.values);
  const std::int64_t row_bytes = x.width / block.values * block.bytes;
  if (row_bytes == 0) return;
  parallel(x.count, std::max<std::int64_t>(1, (1 << 12) / x.width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < x.width; ++j)
        check(std::isfinite(x[i][j]), "quantising to {}: value {} of row {} is {}", name_of(format), j, i, x[i][j]);
      compress_one(Values(x[i], static_cast<std::size_t>(x.width)), to + i * row_bytes);
    }
  });
}

}  // namespace attune::kernels
