#include "attune/ops/dropout.h"

#include <numeric>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

const RandomKey key{.seed = 7, .step = 3, .site = 2};

TokenPlaces places(std::int64_t rows) {
  std::vector<std::int64_t> examples(static_cast<std::size_t>(rows));
  std::vector<std::int32_t> positions(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i] = static_cast<std::int64_t>(i / 5) * 1'000'000'007 - 3;
    positions[i] = static_cast<std::int32_t>(i % 5);
  }
  return TokenPlaces::of(examples, positions);
}

CONFORMANCE(dropout) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [n = rows](auto in) { return dropout(in[0], 0.3, key, places(n)); },
                   .inputs = {random_tensor({rows, width})}});
  expect_agrees(
      {.run = [](auto in) { return dropout(in[0], 0.3, key, places(6)); }, .inputs = {random_tensor({6, 3, 7})}});
}

CONFORMANCE(dropout_add) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [n = rows](auto in) { return dropout_add(in[0], in[1], 0.3, key, places(n)); },
                   .inputs = {random_tensor({rows, width}), random_tensor({rows, width}, 2)}});
}

TEST(Dropout, ATokenDropsTheSameWhateverBatchItIsIn) {
  Tensor x = random_tensor({20, 37});
  TokenPlaces all = places(20);
  Tensor whole = dropout(x, 0.5, key, all);
  TokenPlaces one = TokenPlaces::of({(*all.examples)[13]}, {(*all.positions)[13]});
  EXPECT_TRUE(same_bits(dropout(x.rows(13, 14), 0.5, key, one), whole.rows(13, 14)));
}

TEST(Dropout, DropsAboutItsRateAndScalesTheRest) {
  Tensor y = dropout(Tensor::full({200, 500}, 1.0), 0.1, key, places(200));
  double dropped = 0;
  for (float v : y.values<float>()) {
    if (v == 0)
      ++dropped;
    else
      ASSERT_FLOAT_EQ(v, 1 / 0.9f);
  }
  EXPECT_NEAR(dropped / 100000, 0.1, 0.005);  // five deviations of sqrt(0.1 * 0.9 / 1e5)
}

TEST(Dropout, AnotherStepSiteOrPositionDropsOthers) {
  Tensor x = Tensor::full({1, 256}, 1.0);
  TokenPlaces here = TokenPlaces::of({5}, {9});
  Tensor y = dropout(x, 0.5, key, here);
  EXPECT_FALSE(same_bits(y, dropout(x, 0.5, {.seed = 7, .step = 4, .site = 2}, here)));
  EXPECT_FALSE(same_bits(y, dropout(x, 0.5, key.at(1), here)));
  EXPECT_FALSE(same_bits(y, dropout(x, 0.5, key, TokenPlaces::of({5}, {10}))));
  EXPECT_FALSE(same_bits(y, dropout(x, 0.5, key, TokenPlaces::of({6}, {9}))));
}

TEST(Dropout, FusedAdditionHasTheBitsOfTheTwoOperations) {
  Tensor x = random_tensor({11, 50}), residual = random_tensor({11, 50}, 2);
  EXPECT_TRUE(
      same_bits(dropout_add(x, residual, 0.2, key, places(11)), add(residual, dropout(x, 0.2, key, places(11)))));
}

TEST(Dropout, RateZeroIsTheIdentityAndOthersAreChecked) {
  Tensor x = random_tensor({2, 3});
  EXPECT_EQ(dropout(x, 0, key, {}).data<float>(), x.data<float>());
  EXPECT_TRUE(same_bits(dropout_add(x, x, 0, key, places(2)), add(x, x)));
  EXPECT_THROW(dropout(x, 1.0, key, places(2)), Error);
  EXPECT_THROW(dropout(x, -0.1, key, places(2)), Error);
  EXPECT_THROW(dropout(x, 0.1, key, places(3)), Error);
  EXPECT_THROW(TokenPlaces::of({1, 2}, {1}), Error);
}

}  // namespace
}  // namespace attune
