#include "attune/train/schedule.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

TEST(Schedule, WarmsUpFromZeroAndFallsToZero) {
  Schedule s{Schedule::Shape::linear, 1.0, 4, 12};
  EXPECT_EQ(s.rate(1), 0);
  EXPECT_EQ(s.rate(3), 0.5);
  EXPECT_EQ(s.rate(5), 1);
  EXPECT_EQ(s.rate(9), 0.5);
  EXPECT_EQ(s.rate(13), 0);
}

TEST(Schedule, CosineIsHalfWayAtHalfTime) {
  Schedule s{Schedule::Shape::cosine, 2.0, 0, 10};
  EXPECT_EQ(s.rate(1), 2);
  EXPECT_NEAR(s.rate(6), 1, 1e-12);
}

TEST(Schedule, InverseSquareRootHalvesAtFourTimesTheWarmup) {
  Schedule s{Schedule::Shape::inverse_sqrt, 1.0, 100, 1000};
  EXPECT_EQ(s.rate(101), 1);
  EXPECT_NEAR(s.rate(401), 0.5, 1e-12);
}

TEST(Schedule, AnUnknownNameIsRefusedWithTheNames) {
  try {
    Schedule::parse("linaer");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("inverse_sqrt"), std::string::npos);
  }
}

}  // namespace
}  // namespace attune
