#include "attune/kernels/random_blocks.h"

#include <vector>

#include "attune/base/random.h"
#include "attune/tensor/convert.h"

namespace attune::kernels {

namespace {

struct HalfPlaces {
  std::vector<std::int64_t> places;  // bytes of a block where a half-precision number begins
  double size;                       // of these numbers
};

HalfPlaces halves_of(QuantisedFormat format) {
  switch (format) {
    case QuantisedFormat::Q4_0:
      return {{0}, 0.01};
    case QuantisedFormat::Q4_1:
      return {{0, 2}, 0.01};
    case QuantisedFormat::Q5_0:
      return {{0}, 0.005};
    case QuantisedFormat::Q5_1:
      return {{0, 2}, 0.005};
    case QuantisedFormat::Q8_0:
    case QuantisedFormat::IQ4_NL:
      return {{0}, 0.0005};
    case QuantisedFormat::Q2_K:
      return {{80, 82}, 0.002};
    case QuantisedFormat::Q3_K:
      return {{108}, 0.0005};
    case QuantisedFormat::Q4_K:
      return {{0, 2}, 0.0002};
    case QuantisedFormat::Q5_K:
      return {{0, 2}, 0.0001};
    case QuantisedFormat::Q6_K:
      return {{208}, 0.00002};
    case QuantisedFormat::IQ4_XS:
      return {{0}, 0.00002};
  }
  return {};
}

}  // namespace

QuantisedTensor random_blocks(const Shape& shape, QuantisedFormat format, std::uint64_t seed) {
  QuantisedTensor made = QuantisedTensor::empty(shape, format);
  const std::span<std::byte> bytes = made.mutable_bytes();
  RandomStream random(RandomKey{.seed = seed, .site = static_cast<std::uint64_t>(format)});
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.bits() & 255u);
  const HalfPlaces halves = halves_of(format);
  const auto step = static_cast<std::size_t>(block_of(format).bytes);
  for (std::size_t block = 0; block + step <= bytes.size(); block += step) {
    for (std::int64_t place : halves.places) {
      const Half h = to_half(static_cast<float>(halves.size * random.normal()));
      bytes[block + static_cast<std::size_t>(place)] = static_cast<std::byte>(h.bits & 255u);
      bytes[block + static_cast<std::size_t>(place) + 1] = static_cast<std::byte>(h.bits >> 8);
    }
  }
  return made;
}

}  // namespace attune::kernels
