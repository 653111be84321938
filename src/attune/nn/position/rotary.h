#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attune/ops/rotary.h"

namespace attune {

/// Rotary position embedding as a model's config describes it (Su et al. 2021, "RoFormer", section 3.2.2).
struct RopeConfig {
  enum class Scaling { none, linear, llama3 };

  double theta = 10000;          // base of the frequencies
  std::int64_t rotary_dims = 0;  // values of a head that turn: head_dim, or its partial_rotary_factor; even
  RotaryPairing pairing = RotaryPairing::half_split;

  Scaling scaling = Scaling::none;
  double factor = 1;  // linear (Chen et al. 2023, "Position interpolation") and llama3: frequencies are divided by it
  // llama3 only (Llama 3.1's config): frequencies with fewer than low_frequency_factor turns in original_positions are
  // divided, those with more than high_frequency_factor are left, and those between are blended.
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  double original_positions = 8192;
};

/// Angle per position of each pair, [rotary_dims / 2], rounded to f32 as published implementations keep it.
/// Throws Error where a value is out of range.
std::vector<float> inverse_frequencies(const RopeConfig& config);

/// Cosines and sines for tokens at the given positions, f32. The angle is the product rounded to f32, which is what
/// published models were trained with; at position 100,000 an exact one would differ by up to 0.004.
RotaryTable rotary_table(const RopeConfig& config, std::span<const std::int64_t> positions);

}  // namespace attune
