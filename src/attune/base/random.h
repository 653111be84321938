#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace attune {

/// What a random number depends on besides its place: the run's seed, the step, and where in the program it is used.
/// The same key and place give the same number whatever the batch, the threads or the order of calls.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t site = 0;

  /// The key of a sub-site: of the i-th layer, say, or of the dropout named "attention".
  RandomKey at(std::uint64_t index) const;
  RandomKey at(std::string_view name) const;
  /// 64 well-mixed bits of all three: Philox's key.
  std::uint64_t bits() const;
};

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", section 5.3): four 32-bit numbers
/// for a 64-bit key and a 128-bit counter, here (example id, position, block of four channels).
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t example, std::uint32_t position,
                                    std::uint32_t block);

/// [0, 1) with 24 bits, from 32 random bits.
inline float to_unit(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

/// Numbers in sequence from one key: for shuffles, initial weights and sampling.
class RandomStream {
 public:
  explicit RandomStream(const RandomKey& key) : key_(key.bits()) {}

  std::uint32_t bits();
  double uniform();                        // [0, 1), 53 bits
  double normal();                         // mean 0, deviation 1 (Box-Muller)
  std::int64_t below(std::int64_t bound);  // [0, bound), without bias; bound > 0

  /// Fisher-Yates; `Items` is anything with size() and operator[].
  template <class Items>
  void shuffle(Items& items) {
    for (std::int64_t i = static_cast<std::int64_t>(items.size()) - 1; i > 0; --i)
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace attune
