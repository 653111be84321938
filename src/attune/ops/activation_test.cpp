#include "attune/ops/activation.h"

#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

constexpr Activation all_kinds[] = {Activation::relu,        Activation::gelu,        Activation::gelu_tanh,
                                    Activation::silu,        Activation::tanh,        Activation::sigmoid,
                                    Activation::log_sigmoid, Activation::elu_plus_one};

// Gradients have a wider tolerance than values: 1 - tanh^2, and the slopes near gelu's and silu's minimum, are
// differences of numbers that were rounded, here held against the largest value of one row.
CONFORMANCE(activation) {
  for (Activation kind : all_kinds) {
    SCOPED_TRACE(name_of(kind));
    for (auto [rows, width] : odd_sizes())
      expect_agrees({.run = [kind](auto in) { return activation(in[0], kind); },
                     .inputs = {random_tensor({rows, width}, 1, 1.5)},
                     .row_inputs = {0},
                     .tolerance = 5e-7,
                     .gradient_tolerance = 5e-6});
  }
}

CONFORMANCE(gated) {
  for (Activation kind : all_kinds)
    for (auto [rows, width] : odd_sizes())
      expect_agrees({.run = [kind](auto in) { return gated(in[0], in[1], kind); },
                     .inputs = {random_tensor({rows, width}, 1, 2.0), random_tensor({rows, width}, 2)},
                     .row_inputs = {0, 1},
                     .tolerance = 5e-7,
                     .gradient_tolerance = 5e-6});
  // The halves of one tensor, as a fused projection gives them.
  Tensor both = random_tensor({11, 50});
  expect_agrees({.run = [](auto in) { return gated(in[0], in[1], Activation::silu); },
                 .inputs = {both.slice(1, 0, 25), both.slice(1, 25, 50)},
                 .row_inputs = {0, 1}});
}

TEST(Activation, NamesOfConfigsAreReadAndWritten) {
  for (Activation kind : all_kinds) EXPECT_EQ(parse_activation(name_of(kind)), kind);
  EXPECT_EQ(parse_activation("gelu_pytorch_tanh"), Activation::gelu_tanh);
  EXPECT_EQ(parse_activation("swish"), Activation::silu);
  try {
    parse_activation("geluu");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"geluu\": expected one of relu, gelu, gelu_new"), std::string::npos)
        << error.what();
  }
}

TEST(Activation, ItsInputIsNotOverwrittenWhileSomeoneHoldsIt) {
  Tensor x = require_gradient(random_tensor({4, 9}));
  Tensor middle = scale(x, 2.0), kept = middle.clone();
  backward(sum(activation(middle, Activation::gelu)));
  EXPECT_TRUE(same_bits(middle, kept));
}

TEST(Activation, LogSigmoidAndEluPlusOneKeepTheirPrecisionFarOut) {
  const Tensor x = Tensor::from<float>({4}, std::vector<float>{-1000, -20, 20, 1000});
  const Tensor log = activation(x, Activation::log_sigmoid), elu = activation(x, Activation::elu_plus_one);
  EXPECT_EQ(log.values<float>()[0], -1000);
  EXPECT_EQ(log.values<float>()[1], -20);
  EXPECT_NEAR(log.values<float>()[2], -std::exp(-20.0), 1e-15);
  EXPECT_EQ(log.values<float>()[3], 0);
  EXPECT_EQ(elu.values<float>()[0], 0);
  EXPECT_NEAR(elu.values<float>()[1], std::exp(-20.0), 1e-15);
  EXPECT_EQ(elu.values<float>()[3], 1001);
}

TEST(Activation, NaNGoesOn) {
  Tensor x = Tensor::full({3}, std::nan(""));
  for (Activation kind : all_kinds) EXPECT_TRUE(std::isnan(activation(x, kind).values<float>()[1])) << name_of(kind);
}

}  // namespace
}  // namespace attune
