#include "attune/nn/position/sinusoidal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "attune/base/error.h"

namespace attune {
namespace {

// sin and cos of 1, of 1 / 10000^(2/6) = 0.0464159 and of 1 / 10000^(4/6) = 0.00215443, by hand; the same as
// transformers' MarianSinusoidalPositionalEmbedding(4, 6).create_weight().
TEST(Sinusoidal, HalvesHoldSinesThenCosines) {
  const std::vector<float> row = sinusoidal_table(4, 6, SinusoidalLayout::halves).rows(1, 2).to_vector<float>();
  const double expected[] = {0.841471, 0.0463992, 0.00215443, 0.540302, 0.998923, 0.999998};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(row[i], expected[i], 1e-6);
}

TEST(Sinusoidal, InterleavedAlternates) {
  const std::vector<float> table = sinusoidal_table(3, 4, SinusoidalLayout::interleaved).to_vector<float>();
  const double expected[] = {0,
                             1,
                             0,
                             1,
                             std::sin(1),
                             std::cos(1),
                             std::sin(0.01),
                             std::cos(0.01),
                             std::sin(2),
                             std::cos(2),
                             std::sin(0.02),
                             std::cos(0.02)};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(table[i], expected[i], 1e-7);
}

TEST(Sinusoidal, OddWidthHasOneSineMore) {
  const std::vector<float> halves = sinusoidal_table(2, 3, SinusoidalLayout::halves).rows(1, 2).to_vector<float>();
  const std::vector<float> interleaved =
      sinusoidal_table(2, 3, SinusoidalLayout::interleaved).rows(1, 2).to_vector<float>();
  const double second = std::sin(std::pow(10000.0, -2.0 / 3));
  for (auto [value, expected] : {std::pair<double, double>{halves[0], std::sin(1)},
                                 {halves[1], second},
                                 {halves[2], std::cos(1)},
                                 {interleaved[0], std::sin(1)},
                                 {interleaved[1], std::cos(1)},
                                 {interleaved[2], second}})
    EXPECT_NEAR(value, expected, 1e-7);
}

TEST(Sinusoidal, AnyLengthAndNoWrongOne) {
  EXPECT_EQ(sinusoidal_table(0, 4, SinusoidalLayout::halves).numel(), 0);
  EXPECT_THROW(sinusoidal_table(-1, 4, SinusoidalLayout::halves), Error);
  EXPECT_THROW(sinusoidal_table(4, 0, SinusoidalLayout::halves), Error);
}

}  // namespace
}  // namespace attune
