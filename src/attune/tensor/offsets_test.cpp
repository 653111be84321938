#include "attune/tensor/offsets.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

TEST(Offsets, SequencesLieOneBehindTheOther) {
  Offsets offsets = Offsets::from_lengths(std::vector<std::int64_t>{3, 0, 5});
  EXPECT_EQ(offsets.count(), 3);
  EXPECT_EQ(offsets.total(), 8);
  EXPECT_EQ(offsets.begin(2), 3);
  EXPECT_EQ(offsets.end(2), 8);
  EXPECT_EQ(offsets.length(1), 0);
  EXPECT_EQ(offsets.longest(), 5);
}

TEST(Offsets, NoneIsABatchOfNoSequences) {
  EXPECT_EQ(Offsets().count(), 0);
  EXPECT_EQ(Offsets().total(), 0);
  EXPECT_EQ(Offsets().longest(), 0);
  EXPECT_TRUE(Offsets::single(4) == Offsets::from_lengths(std::vector<std::int64_t>{4}));
}

TEST(Offsets, NegativeLengthIsAnError) { EXPECT_THROW(Offsets::from_lengths(std::vector<std::int64_t>{2, -1}), Error); }

}  // namespace
}  // namespace attune
