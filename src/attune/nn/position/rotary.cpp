#include "attune/nn/position/rotary.h"

#include <cmath>
#include <numbers>

#include "attune/base/error.h"

namespace attune {

namespace {

/// Llama 3.1's rule for one frequency.
double llama3(const RopeConfig& c, double frequency) {
  const double turns = c.original_positions * frequency / (2 * std::numbers::pi);
  if (turns < c.low_frequency_factor) return frequency / c.factor;
  if (turns > c.high_frequency_factor) return frequency;
  const double kept = (turns - c.low_frequency_factor) / (c.high_frequency_factor - c.low_frequency_factor);
  return (1 - kept) * frequency / c.factor + kept * frequency;
}

}  // namespace

std::vector<float> inverse_frequencies(const RopeConfig& c) {
  check(c.rotary_dims > 0 && c.rotary_dims % 2 == 0,
        "rotary positions: {} values turn: expected an even number above 0", c.rotary_dims);
  check(c.theta > 0, "rotary positions: theta is {}: expected a number above 0", c.theta);
  check(c.factor > 0, "rotary positions: the scaling factor is {}: expected a number above 0", c.factor);
  if (c.scaling == RopeConfig::Scaling::llama3)
    check(c.original_positions > 0 && 0 < c.low_frequency_factor && c.low_frequency_factor < c.high_frequency_factor,
          "rotary positions: llama3 scaling needs 0 < low_freq_factor < high_freq_factor and original positions, got "
          "{}, {} and {}",
          c.low_frequency_factor, c.high_frequency_factor, c.original_positions);
  std::vector<float> frequencies;
  for (std::int64_t i = 0; i < c.rotary_dims; i += 2) {
    double frequency = std::pow(c.theta, -static_cast<double>(i) / static_cast<double>(c.rotary_dims));
    if (c.scaling == RopeConfig::Scaling::linear) frequency /= c.factor;
    if (c.scaling == RopeConfig::Scaling::llama3) frequency = llama3(c, frequency);
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

RotaryTable rotary_table(const RopeConfig& config, std::span<const std::int64_t> positions) {
  const std::vector<float> frequencies = inverse_frequencies(config);
  const Shape shape{static_cast<std::int64_t>(positions.size()), static_cast<std::int64_t>(frequencies.size())};
  RotaryTable table{Tensor::empty(shape), Tensor::empty(shape), config.pairing};
  float* cos = table.cos.mutable_data<float>();
  float* sin = table.sin.mutable_data<float>();
  for (std::int64_t position : positions) {
    for (float frequency : frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      *cos++ = static_cast<float>(std::cos(static_cast<double>(angle)));
      *sin++ = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  }
  return table;
}

}  // namespace attune
