// Slopes against transformers (BLOOM): tests/golden/positions/slopes.json, written by tools/golden/positions.py.
#include "attune/nn/position/alibi.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {
namespace {

TEST(AlibiSlopes, AreThePublishedOnesForAnyNumberOfHeads) {
  const Json golden = read_json(Path(ATTUNE_GOLDEN_DIR) / "positions/slopes.json");
  ASSERT_EQ(golden.size(), 23u);
  for (const auto& [heads, slopes] : golden.items()) {
    const auto expected = slopes.get<std::vector<double>>();
    const std::vector<double> ours = alibi_slopes(std::stoll(heads));
    ASSERT_EQ(ours.size(), expected.size()) << heads;
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i] / expected[i], 1, 3e-6) << heads << " " << i;
  }
}

TEST(AlibiSlopes, AreAGeometricSequenceForAPowerOfTwo) {
  for (std::int64_t heads : {1, 2, 8, 32}) {
    const std::vector<double> slopes = alibi_slopes(heads);
    EXPECT_DOUBLE_EQ(slopes.back(), 1.0 / 256);
    for (std::size_t i = 1; i < slopes.size(); ++i) EXPECT_NEAR(slopes[i] / slopes[i - 1], slopes[0], 1e-12);
  }
  EXPECT_THROW(alibi_slopes(0), Error);
}

}  // namespace
}  // namespace attune
