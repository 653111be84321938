#include "attune/workflows/demo/demo.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Demo, EachClaimHoldsForOtherSeedsToo) {
  for (const Demo& demo : demos()) {
    if (demo.name == "cost") continue;  // measures time, which tests do not
    for (std::uint64_t seed : {0, 1, 17}) EXPECT_TRUE(demo.run(seed, {}).holds) << demo.name << " with seed " << seed;
  }
}

}  // namespace
}  // namespace attune
