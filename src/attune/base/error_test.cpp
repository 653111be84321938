#include "attune/base/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune {
namespace {

TEST(Error, WithinPutsTheContextInFront) {
  try {
    within("reading data.jsonl, line 7", [] { fail("\"{}\" is missing", "text"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "reading data.jsonl, line 7: \"text\" is missing");
  }
}

TEST(Error, WithinLetsACancellationThroughUnchanged) {
  EXPECT_THROW(within("training", []() -> int { throw Cancelled("stopped"); }), Cancelled);
}

TEST(Error, WithinReturnsTheResult) {
  EXPECT_EQ(within("adding", [] { return 3; }), 3);
}

TEST(Error, EditDistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sunday", "saturday"), 3u);
}

TEST(Error, NearestNameIsTheLeastDistantOrNone) {
  std::vector<std::string> known{"learning_rate", "warmup_steps", "epochs"};
  EXPECT_EQ(nearest_name("learning_rat", known), "learning_rate");
  EXPECT_EQ(nearest_name("warmup_step", known), "warmup_steps");
  EXPECT_EQ(nearest_name("something_else_altogether", known), "");
}

}  // namespace
}  // namespace attune
