#include "attune/ops/softmax.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(softmax) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return softmax(in[0]); },
                   .inputs = {random_tensor({rows, width}, 1, 3)},
                   .row_inputs = {0}});
}

CONFORMANCE(log_softmax) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return log_softmax(in[0]); },
                   .inputs = {random_tensor({rows, width}, 1, 3)},
                   .row_inputs = {0}});
}

TEST(Softmax, LargeLogitsDoNotOverflow) {
  auto y = softmax(Tensor::from<float>({1, 3}, std::vector<float>{1e30f, 1e30f, -1e30f})).to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{0.5f, 0.5f, 0.f}));
}

TEST(Softmax, ARowWithNothingToChooseGivesZeros) {
  const float none = -std::numeric_limits<float>::infinity();
  for (DType type : {DType::F32, DType::F64}) {
    Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{none, none, none, none, 1, none}).to(type);
    EXPECT_EQ(softmax(x).to(DType::F32).to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 1, 0}));
  }
}

TEST(Softmax, NaNGoesOn) {
  EXPECT_TRUE(
      std::isnan(softmax(Tensor::from<float>({1, 2}, std::vector<float>{1, std::nanf("")})).values<float>()[0]));
}

}  // namespace
}  // namespace attune
