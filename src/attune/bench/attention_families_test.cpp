#include "attune/bench/attention_families.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attune/base/error.h"
#include "attune/nn/attention/family.h"

namespace attune::bench {
namespace {

TEST(PowerLaw, FindsTheExponentOfOneExactly) {
  const std::vector<double> x = {1, 2, 4, 8}, y = {3, 12, 48, 192};
  const PowerLaw law = fit_power_law(x, y);
  EXPECT_NEAR(law.exponent.value, 2, 1e-12);
  EXPECT_NEAR(law.exponent.low, 2, 1e-6);
  EXPECT_NEAR(law.at(16), 768, 1e-9);
}

TEST(PowerLaw, ThreePointsByHand) {
  // log2: x 0 1 2, y 0 2 1: slope 1/2; rests -1/2, 1, -1/2, so 1.5 / 1 degree over 2, and t(1) = 12.7062.
  const std::vector<double> x = {1, 2, 4}, y = {1, 4, 2};
  const PowerLaw law = fit_power_law(x, y);
  EXPECT_NEAR(law.exponent.value, 0.5, 1e-12);
  EXPECT_NEAR(law.exponent.high - 0.5, 12.7062047364 * std::sqrt(1.5 / 2), 1e-7);
}

TEST(PowerLaw, RefusesTwoPointsAndZeros) {
  EXPECT_THROW(fit_power_law(std::vector<double>{1, 2}, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(fit_power_law(std::vector<double>{1, 2, 3}, std::vector<double>{1, 0, 2}), Error);
}

TEST(AttentionFamilies, EachIsMeasuredForwardAndBackwardAtEachLength) {
  std::set<std::string> seen;
  attention_families({.families = {"all"}, .lengths = {16, 64}, .repeated = 1e-4},
                     {.cost = [&](const FamilyCost& cost) {
                       EXPECT_TRUE(cost.skipped.empty()) << cost.family << ": " << cost.skipped;
                       EXPECT_GT(cost.ms, 0) << cost.family;
                       seen.insert(cost.family + (cost.backward ? " b " : " f ") + std::to_string(cost.tokens));
                     }});
  EXPECT_EQ(seen.size(), attune::attention_families().size() * 4);
}

TEST(AttentionFamilies, ALengthThatWouldTakeTooLongIsSkippedAndSaysSo) {
  std::vector<std::string> skipped;
  attention_families({.families = {"full"}, .lengths = {32, 1 << 20}, .budget = 1, .repeated = 1e-4},
                     {.cost = [&](const FamilyCost& cost) { skipped.push_back(cost.skipped); }});
  ASSERT_EQ(skipped.size(), 4u);
  EXPECT_EQ(skipped[0], "");
  EXPECT_NE(skipped[1].find("by what shorter ones took"), std::string::npos) << skipped[1];
}

TEST(AttentionFamilies, AnUnknownNameIsToldWithThoseThereAre) {
  try {
    attention_families({.families = {"fool"}, .lengths = {16}}, {.cost = [](const FamilyCost&) {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("full"), std::string::npos) << error.what();
  }
}

TEST(AttentionFamilies, StopsWhenItIsTold) {
  std::atomic<bool> stop = true;
  EXPECT_THROW(attention_families({.families = {"full"}, .lengths = {16}}, {.cost = [](const FamilyCost&) {}},
                                  attune::Run{.progress = {}, .cancel = &stop}),
               Cancelled);
}

}  // namespace
}  // namespace attune::bench
