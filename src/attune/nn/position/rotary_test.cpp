#include "attune/nn/position/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attune/base/error.h"
#include "attune/ops/rotary.h"

namespace attune {
namespace {

void expect_near_relative(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i] / expected[i], 1, tolerance) << i;
}

TEST(RopeConfig, FrequenciesFallFromOneGeometrically) {
  expect_near_relative(inverse_frequencies({.theta = 10000, .rotary_dims = 8}), {1, 0.1, 0.01, 0.001}, 1e-7);
}

TEST(RopeConfig, LinearScalingDividesThem) {
  expect_near_relative(
      inverse_frequencies(
          {.theta = 10000, .rotary_dims = 8, .scaling = {.kind = RopeScaling::Kind::linear, .factor = 4}}),
      {0.25, 0.025, 0.0025, 0.00025}, 1e-7);
}

// Values of transformers' ROPE_INIT_FUNCTIONS["llama3"] for the same config: the first is left, the next three are
// blended between their own and an eighth, the others divided.
TEST(RopeConfig, Llama3ScalingGivesThePublishedFrequencies) {
  const RopeConfig config = {.theta = 500000,
                             .rotary_dims = 16,
                             .scaling = {.kind = RopeScaling::Kind::llama3,
                                         .factor = 8,
                                         .original_positions = 256,
                                         .low_frequency_factor = 1,
                                         .high_frequency_factor = 4}};
  expect_near_relative(inverse_frequencies(config),
                       {1.0, 0x1.8d2760p-3, 0x1.595116p-7, 0x1.ddee9ep-11, 0x1.72ba42p-13, 0x1.1f91f0p-15,
                        0x1.be2188p-18, 0x1.5a0f4ep-20},
                       2e-7);
  const RotaryTable table = rotary_table(config, std::vector<std::int64_t>{777});
  const std::vector<float> cos = table.cos.to_vector<float>(), sin = table.sin.to_vector<float>();
  const double expected_cos[] = {-0.5177, 0.9930, -0.3280, 0.7595}, expected_sin[] = {-0.8556, -0.1182, 0.9447, 0.6505};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(cos[i], expected_cos[i], 1e-4);
    EXPECT_NEAR(sin[i], expected_sin[i], 1e-4);
  }
}

TEST(RopeConfig, ImpossibleValuesAreNamed) {
  EXPECT_THROW(inverse_frequencies({.rotary_dims = 7}), Error);
  EXPECT_THROW(inverse_frequencies({.rotary_dims = 0}), Error);
  EXPECT_THROW(inverse_frequencies({.theta = 0, .rotary_dims = 8}), Error);
  EXPECT_THROW(inverse_frequencies(
                   {.rotary_dims = 8, .scaling = {.kind = RopeScaling::Kind::llama3, .low_frequency_factor = 4}}),
               Error);
}

// The property that gives the method its name (RoFormer, equation 11).
TEST(RotaryPositions, ScoresDependOnTheDistanceAlone) {
  const std::vector<float> values = {0.3f, -1.2f, 0.8f, 0.5f, 1.1f, -0.4f, 0.9f, 0.2f};
  for (RotaryPairing pairing : {RotaryPairing::half_split, RotaryPairing::interleaved}) {
    auto score = [&](std::int64_t query_position, std::int64_t key_position) {
      const RotaryTable table =
          rotary_table({.rotary_dims = 4, .pairing = pairing}, std::vector<std::int64_t>{query_position, key_position});
      const std::vector<float> turned = rotary(Tensor::from<float>({2, 1, 4}, values), table).to_vector<float>();
      return turned[0] * turned[4] + turned[1] * turned[5] + turned[2] * turned[6] + turned[3] * turned[7];
    };
    EXPECT_NEAR(score(7, 3), score(104, 100), 1e-5);
    EXPECT_GT(std::abs(score(7, 3) - score(8, 3)), 1e-3);
  }
}

}  // namespace
}  // namespace attune
