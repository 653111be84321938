#include "attune/base/random.h"

#include <cmath>
#include <numbers>

namespace attune {

namespace {

/// SplitMix64's output function (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", figure
/// 16).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// Streams draw from this place, which no example's position reaches, so that they share no number with philox() by
// place.
constexpr std::uint32_t stream_position = 0xffffffffu;
constexpr std::uint32_t stream_block = 0xffffffffu;

}  // namespace

RandomKey RandomKey::at(std::uint64_t index) const { return {seed, step, mix(mix(site) ^ index)}; }

RandomKey RandomKey::at(std::string_view name) const { return {seed, step, mix(~mix(site) ^ hash(name))}; }

std::uint64_t RandomKey::bits() const { return mix(mix(mix(seed) ^ step) ^ site); }

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t example, std::uint32_t position,
                                    std::uint32_t block) {
  std::uint32_t x0 = static_cast<std::uint32_t>(example), x1 = static_cast<std::uint32_t>(example >> 32);
  std::uint32_t x2 = position, x3 = block;
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t p0 = std::uint64_t{0xD2511F53u} * x0, p1 = std::uint64_t{0xCD9E8D57u} * x2;
    x0 = static_cast<std::uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x1 = static_cast<std::uint32_t>(p1);
    x2 = static_cast<std::uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;  // the key schedule's Weyl sequence
    k1 += 0xBB67AE85u;
  }
  return {x0, x1, x2, x3};
}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) {
    block_ = philox(key_, counter_++, stream_position, stream_block);
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double RandomStream::uniform() {
  std::uint64_t high = bits(), low = bits();
  return static_cast<double>((high << 21) | (low >> 11)) * 0x1p-53;
}

double RandomStream::normal() {
  double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t RandomStream::below(std::int64_t bound) {
  const auto range = static_cast<std::uint64_t>(bound);
  // The numbers under `skip` are rejected, which leaves a multiple of `range`.
  const std::uint64_t skip = (0 - range) % range;
  for (;;) {
    std::uint64_t high = bits(), low = bits();
    std::uint64_t drawn = (high << 32) | low;
    if (drawn >= skip) return static_cast<std::int64_t>(drawn % range);
  }
}

}  // namespace attune
