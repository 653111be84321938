#include "attune/nn/position/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attune/base/error.h"

namespace attune {

namespace {

/// How much of a frequency stays undivided, 0 to 1, by Llama 3.1's rule.
double llama3_kept(const RopeScaling& s, double frequency) {
  const double turns = s.original_positions * frequency / (2 * std::numbers::pi);
  return std::clamp((turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor), 0.0, 1.0);
}

/// YaRN's bounds: the (fractional) number of the frequency that makes `turns` turns in the original positions.
double yarn_bound(const RopeScaling& s, double theta, double dims, double turns) {
  return dims * std::log(s.original_positions / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
}

std::vector<double> yarn_kept(const RopeScaling& s, double theta, std::int64_t dims) {
  const auto width = static_cast<double>(dims);
  double low = yarn_bound(s, theta, width, s.beta_fast), high = yarn_bound(s, theta, width, s.beta_slow);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  std::vector<double> kept;
  for (std::int64_t i = 0; i < dims / 2; ++i)
    kept.push_back(1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
  return kept;
}

void check_scaling(const RopeScaling& s, double theta, std::int64_t dims) {
  using Kind = RopeScaling::Kind;
  check(s.factor > 0, "rotary positions: the scaling factor is {}: expected a number above 0", s.factor);
  check(s.magnitude > 0, "rotary positions: the attention factor is {}: expected a number above 0", s.magnitude);
  check(s.kind == Kind::none || s.kind == Kind::linear || s.original_positions > 0,
        "rotary positions: the original longest sequence is {}: expected a number above 0", s.original_positions);
  check(s.kind != Kind::dynamic || dims > 2, "rotary positions: dynamic scaling needs more than 2 values that turn");
  check(s.kind != Kind::llama3 ||
            (0 < s.low_frequency_factor && s.low_frequency_factor < s.high_frequency_factor && s.factor > 0),
        "rotary positions: llama3 scaling needs 0 < low_freq_factor < high_freq_factor, got {} and {}",
        s.low_frequency_factor, s.high_frequency_factor);
  check(s.kind != Kind::yarn || (0 < s.beta_slow && s.beta_slow <= s.beta_fast && theta > 1),
        "rotary positions: yarn scaling needs 0 < beta_slow <= beta_fast and theta above 1, got {}, {} and {}",
        s.beta_slow, s.beta_fast, theta);
  if (s.kind != Kind::longrope) return;
  for (const auto* factors : {&s.short_factors, &s.long_factors}) {
    check(static_cast<std::int64_t>(factors->size()) == dims / 2,
          "rotary positions: longrope scaling has {} factors for {} values that turn: expected {}", factors->size(),
          dims, dims / 2);
    for (double factor : *factors)
      check(factor > 0, "rotary positions: a longrope factor is {}: expected numbers above 0", factor);
  }
}

}  // namespace

double yarn_magnitude(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

double longrope_magnitude(double factor, double original_positions) {
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original_positions));
}

std::vector<double> scaled_frequencies(const RopeScaling& s, double theta, std::int64_t dims, std::int64_t length) {
  using Kind = RopeScaling::Kind;
  check(dims > 0 && dims % 2 == 0, "rotary positions: {} values turn: expected an even number above 0", dims);
  check(theta > 0, "rotary positions: theta is {}: expected a number above 0", theta);
  check_scaling(s, theta, dims);
  const auto width = static_cast<double>(dims), tokens = static_cast<double>(length);
  if (s.kind == Kind::dynamic) {
    const double stretch = s.factor * std::max(tokens, s.original_positions) / s.original_positions - (s.factor - 1);
    theta *= std::pow(stretch, width / (width - 2));
  }
  const std::vector<double> kept_by_yarn = s.kind == Kind::yarn ? yarn_kept(s, theta, dims) : std::vector<double>{};
  const std::vector<double>& divisors = tokens > s.original_positions ? s.long_factors : s.short_factors;
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims / 2); ++i) {
    double frequency = std::pow(theta, -2 * static_cast<double>(i) / width);
    if (s.kind == Kind::linear) frequency /= s.factor;
    if (s.kind == Kind::longrope) frequency /= divisors[i];
    if (s.kind == Kind::llama3 || s.kind == Kind::yarn) {
      const double kept = s.kind == Kind::yarn ? kept_by_yarn[i] : llama3_kept(s, frequency);
      frequency = kept * frequency + (1 - kept) * frequency / s.factor;
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

}  // namespace attune
