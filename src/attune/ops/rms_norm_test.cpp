#include "attune/ops/rms_norm.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(rms_norm) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return rms_norm(in[0], in[1], 0.1); },
                   .inputs = {random_tensor({rows, width}), random_tensor({width}, 2)},
                   .row_inputs = {0}});
  expect_agrees({.run = [](auto in) { return rms_norm(add(in[0], in[0]), in[1], 1e-6); },
                 .inputs = {random_tensor({400, 96}), random_tensor({96}, 2)},
                 .row_inputs = {0}});
}

TEST(RmsNorm, ParametersThatDoNotFitAreAnError) {
  EXPECT_THROW(rms_norm(random_tensor({2, 5}), random_tensor({4}), 1e-5), Error);
  EXPECT_THROW(rms_norm(random_tensor({2, 5}), random_tensor({5}), -1e-5), Error);
}

TEST(RmsNorm, ARowOfZerosStaysZero) {
  for (float v : rms_norm(Tensor::zeros({2, 9}), random_tensor({9}), 1e-6).to_vector<float>()) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace attune
