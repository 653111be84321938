#include "attune/kernels/cpu/first_above.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace attune::kernels {
namespace {

TEST(FirstAbove, IsTheFirstGreaterOneWhereverItIsAndOverNothingElse) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t n : {0, 1, 15, 16, 63, 64, 65, 200, 257})
    for (std::int64_t place = 0; place <= n; ++place) {
      std::vector<float> x(static_cast<std::size_t>(n), 2.0f);  // equal is not greater
      for (std::size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 == 0 ? nan : -infinity;
      for (std::int64_t i = place; i < n; i += 90) x[static_cast<std::size_t>(i)] = 2.5f;
      EXPECT_EQ(first_above(x, 2.0f, 0), place) << n;
      EXPECT_EQ(first_above(x, 2.0f, place), place) << n;
      if (place + 1 < n) {
        EXPECT_EQ(first_above(x, 2.0f, place + 1), std::min(place + 90, n)) << n;
      }
    }
  EXPECT_EQ(first_above(std::vector<float>{-infinity, nan, -3.0f, infinity}, -infinity, 0), 2);
}

}  // namespace
}  // namespace attune::kernels
