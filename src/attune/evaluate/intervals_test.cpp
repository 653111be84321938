#include "attune/evaluate/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attune/base/error.h"

namespace attune::evaluate {
namespace {

TEST(StudentT, QuantilesAreThoseOfThePublishedTable) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062047364, 1e-8);
  EXPECT_NEAR(student_t_quantile(0.975, 3), 3.18244630528, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.95, 10), 1.81246112281, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 1e9), 1.95996398454, 1e-6);
}

TEST(StudentT, IsSymmetricAboutZero) {
  EXPECT_DOUBLE_EQ(student_t_quantile(0.1, 4), -student_t_quantile(0.9, 4));
  EXPECT_NEAR(student_t_quantile(0.5, 4), 0, 1e-9);
}

TEST(StudentT, RefusesWhatHasNoQuantile) {
  EXPECT_THROW(student_t_quantile(1, 4), Error);
  EXPECT_THROW(student_t_quantile(0.9, 0.5), Error);
}

TEST(MeanInterval, OfThreeValuesByHand) {
  const std::vector<double> values = {1, 2, 3};  // deviation 1, so the half width is t(2) / sqrt(3)
  const Interval mean = mean_interval(values);
  EXPECT_DOUBLE_EQ(mean.value, 2);
  EXPECT_NEAR(mean.high - 2, 4.30265272975 / std::sqrt(3.0), 1e-8);
  EXPECT_NEAR(2 - mean.low, mean.high - 2, 1e-12);
}

TEST(MeanInterval, OneValueSaysNothingOfItsSpread) {
  EXPECT_FALSE(std::isfinite(mean_interval(std::vector<double>{4}).high));
  EXPECT_THROW(mean_interval({}), Error);
}

TEST(WilsonInterval, IsWhatThePaperGives) {
  const Interval none = wilson_interval(0, 10), half = wilson_interval(0.5, 10);
  EXPECT_DOUBLE_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.27753279, 1e-6);
  EXPECT_NEAR(half.low, 0.23659309, 1e-6);
  EXPECT_NEAR(half.high, 0.76340691, 1e-6);
}

}  // namespace
}  // namespace attune::evaluate
