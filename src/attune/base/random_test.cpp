#include "attune/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace attune {
namespace {

using Four = std::array<std::uint32_t, 4>;

// The known answers of Random123's kat_vectors for philox4x32 with 10 rounds; counter words in order, then key words.
TEST(Philox, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0, 0), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0u, ~0u), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822ull, 0x85a308d3243f6a88ull, 0x13198a2e, 0x03707344),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomKey, EveryPartChangesTheBits) {
  RandomKey key{.seed = 1, .step = 2, .site = 3};
  std::set<std::uint64_t> bits{key.bits(),
                               RandomKey{2, 2, 3}.bits(),
                               RandomKey{1, 3, 3}.bits(),
                               RandomKey{1, 2, 4}.bits(),
                               RandomKey{2, 1, 3}.bits(),
                               RandomKey{3, 2, 1}.bits()};
  EXPECT_EQ(bits.size(), 6u);
}

TEST(RandomKey, SubSitesDifferFromEachOtherAndDependOnTheWay) {
  RandomKey key{.seed = 1};
  std::set<std::uint64_t> bits{key.bits()};
  for (std::uint64_t i = 0; i < 100; ++i) bits.insert(key.at(i).bits());
  for (const char* name : {"", "attention", "dropout", "dropouT"}) bits.insert(key.at(name).bits());
  bits.insert(key.at(1).at(2).bits());
  bits.insert(key.at(2).at(1).bits());
  EXPECT_EQ(bits.size(), 1u + 100u + 4u + 2u);
  EXPECT_EQ(key.at("dropout").bits(), RandomKey{.seed = 1}.at("dropout").bits());
}

TEST(RandomStream, TheSameKeyGivesTheSameSequence) {
  RandomStream a(RandomKey{.seed = 7}), b(RandomKey{.seed = 7}), c(RandomKey{.seed = 8});
  bool differs = false;
  for (int i = 0; i < 50; ++i) {
    std::uint32_t x = a.bits();
    EXPECT_EQ(x, b.bits());
    differs |= x != c.bits();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomStream, SharesNothingWithTheNumbersByPlace) {
  RandomKey key{.seed = 3};
  RandomStream stream(key);
  Four first{stream.bits(), stream.bits(), stream.bits(), stream.bits()};
  EXPECT_NE(first, philox(key.bits(), 0, 0, 0));
}

TEST(RandomStream, UniformFillsTheUnitIntervalEvenly) {
  RandomStream random(RandomKey{.seed = 11});
  std::array<int, 10> bins{};
  for (int i = 0; i < 20000; ++i) {
    double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * 10)];
  }
  for (int bin : bins) EXPECT_NEAR(bin, 2000, 200);  // 4.7 standard deviations
}

TEST(RandomStream, NormalHasMeanZeroDeviationOneAndNormalTails) {
  RandomStream random(RandomKey{.seed = 12});
  constexpr int count = 40000;
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < count; ++i) {
    double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x, squares += x * x, beyond_two += std::abs(x) > 2;
  }
  EXPECT_NEAR(sum / count, 0, 0.025);
  EXPECT_NEAR(squares / count, 1, 0.035);
  EXPECT_NEAR(beyond_two / double{count}, 0.0455, 0.005);
}

TEST(RandomStream, BelowStaysInRangeAndReachesEveryValue) {
  RandomStream random(RandomKey{.seed = 13});
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen[static_cast<std::size_t>(random.below(7))];
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(random.below(1), 0);
  for (int i = 0; i < 100; ++i) {
    std::int64_t x = random.below((std::int64_t{1} << 62) + 1);
    EXPECT_TRUE(x >= 0 && x <= (std::int64_t{1} << 62));
  }
}

TEST(RandomStream, ShuffleIsAPermutationThatEveryPlaceTakesPartIn) {
  RandomStream random(RandomKey{.seed = 14});
  std::array<std::array<int, 4>, 4> went{};
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<int> items{0, 1, 2, 3};
    random.shuffle(items);
    for (std::size_t place = 0; place < 4; ++place) ++went[static_cast<std::size_t>(items[place])][place];
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::vector<int>{0, 1, 2, 3}));
  }
  for (const auto& item : went)
    for (int count : item) EXPECT_NEAR(count, 1000, 140);
}

TEST(Random, ToUnitIsBelowOne) {
  EXPECT_EQ(to_unit(0), 0.0f);
  EXPECT_LT(to_unit(0xffffffffu), 1.0f);
}

}  // namespace
}  // namespace attune
