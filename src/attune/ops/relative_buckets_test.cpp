// Against transformers: tests/golden/positions/buckets.json, written by tools/golden/positions.py.
#include "attune/ops/relative_buckets.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {
namespace {

TEST(RelativeBuckets, AreTransformersAtEachDistance) {
  const Json golden = read_json(Path(ATTUNE_GOLDEN_DIR) / "positions/buckets.json");
  const auto reach = golden["reach"].get<std::int64_t>();
  std::set<std::string> kinds;
  for (const Json& one : golden["cases"]) {
    std::function<std::int64_t(std::int64_t)> bucket;
    auto size = [&](const char* key) { return one[key].get<std::int64_t>(); };
    if (one["kind"] == "shaw") bucket = [&](std::int64_t d) { return shaw_bucket(d, size("clip")); };
    if (one["kind"] == "t5")
      bucket = [&](std::int64_t d) {
        return t5_bucket(d, {size("count"), size("longest"), one["both_ways"].get<bool>()});
      };
    if (one["kind"] == "deberta")
      bucket = [&](std::int64_t d) { return deberta_bucket(d, {size("span"), size("count"), size("longest")}); };
    const Json& changes = one["buckets"];  // [place, bucket] where it is not that of the distance before
    std::size_t next = 0;
    std::int64_t expected = -1;
    for (std::int64_t d = -reach; d <= reach; ++d) {
      if (next < changes.size() && changes[next][0].get<std::int64_t>() == d + reach)
        expected = changes[next++][1].get<std::int64_t>();
      ASSERT_EQ(bucket(d), expected) << "distance " << d << " of " << to_text(one).substr(0, 80);
    }
    kinds.insert(one["kind"].get<std::string>());
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"deberta", "shaw", "t5"}));
}

TEST(RelativeBuckets, T5GrowsWithTheLogarithmOfTheDistance) {
  const T5Buckets sizes{.buckets = 32, .longest = 128, .both_ways = false};
  for (std::int64_t far = 0; far < 16; ++far) EXPECT_EQ(t5_bucket(-far, sizes), far);
  for (std::int64_t far = 1; far < 1000; ++far) EXPECT_GE(t5_bucket(-far, sizes), t5_bucket(1 - far, sizes));
  EXPECT_EQ(t5_bucket(-128, sizes), 31);
  EXPECT_EQ(t5_bucket(-100000, sizes), 31);
  // 16 buckets for 16 to 128, three doublings: a doubling takes 16 / 3 of them.
  for (std::int64_t far : {16, 20, 30, 50}) {
    const std::int64_t doubling = t5_bucket(-2 * far, sizes) - t5_bucket(-far, sizes);
    EXPECT_TRUE(doubling == 5 || doubling == 6) << far;
  }
  EXPECT_EQ(t5_bucket(5, sizes), 0);  // a key after the query
  EXPECT_EQ(t5_bucket(5, {32, 128, true}), 16 + t5_bucket(-5, {32, 128, true}));
}

TEST(RelativeBuckets, ShawIsExactUpToItsClip) {
  for (std::int64_t d = -4; d <= 4; ++d) EXPECT_EQ(shaw_bucket(d, 4), d + 4);
  EXPECT_EQ(shaw_bucket(-900, 4), 0);
  EXPECT_EQ(shaw_bucket(900, 4), 8);
}

TEST(RelativeBuckets, DebertaFallsFromSpanToSpan) {
  const DebertaBuckets sizes{.span = 32, .buckets = 32, .longest = 128};
  EXPECT_EQ(deberta_bucket(0, sizes), 32);
  for (std::int64_t d = -15; d <= 16; ++d) EXPECT_EQ(deberta_bucket(d, sizes), 32 - d);
  for (std::int64_t d = -500; d < 500; ++d) EXPECT_GE(deberta_bucket(d, sizes), deberta_bucket(d + 1, sizes));
  EXPECT_EQ(deberta_bucket(-500, sizes), 63);
  EXPECT_EQ(deberta_bucket(500, sizes), 0);
}

TEST(RelativeBuckets, ImpossibleSizesAreNamed) {
  EXPECT_THROW(shaw_bucket(1, -1), Error);
  EXPECT_THROW(t5_bucket(1, {.buckets = 2, .longest = 128}), Error);
  EXPECT_THROW(t5_bucket(1, {.buckets = 32, .longest = 8}), Error);
  EXPECT_THROW(deberta_bucket(1, {.span = 0}), Error);
  EXPECT_THROW(deberta_bucket(1, {.span = 8, .buckets = 1}), Error);
  EXPECT_THROW(deberta_bucket(1, {.span = 8, .buckets = 64, .longest = 33}), Error);
}

}  // namespace
}  // namespace attune
