#include "attune/ops/layer_norm.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(layer_norm) {
  // A row of one value has no variance, and with a tiny epsilon its gradient is rounding blown up: epsilon 0.1 keeps it
  // small.
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return layer_norm(in[0], in[1], in[2], 0.1); },
                   .inputs = {random_tensor({rows, width}), random_tensor({width}, 2), random_tensor({width}, 3)},
                   .row_inputs = {0}});
  expect_agrees({.run = [](auto in) { return layer_norm(in[0], in[1], in[2], 1e-12); },
                 .inputs = {random_tensor({400, 96}, 1, 5), random_tensor({96}, 2), random_tensor({96}, 3)},
                 .row_inputs = {0}});
  // The input is an intermediate that nobody else holds: its memory is used again.
  expect_agrees({.run = [](auto in) { return layer_norm(add(in[0], in[0]), in[1], in[2], 1e-5); },
                 .inputs = {random_tensor({9, 40}), random_tensor({40}, 2), random_tensor({40}, 3)},
                 .row_inputs = {0}});
}

TEST(LayerNorm, RowsFarFromZeroKeepTheirPrecision) {
  Tensor x = Tensor::full({1, 64}, 1000.0), ones = Tensor::full({64}, 1.0), zeros = Tensor::zeros({64});
  for (std::size_t i = 0; i < 64; i += 2) x.mutable_values<float>()[i] = 1001.0f;
  auto y = layer_norm(x, ones, zeros, 1e-5).to_vector<float>();
  EXPECT_NEAR(y[0], 0.99998, 1e-4);
  EXPECT_NEAR(y[1], -0.99998, 1e-4);
}

TEST(LayerNorm, ParametersThatDoNotFitAreAnError) {
  Tensor x = random_tensor({2, 5}), w = random_tensor({5});
  EXPECT_THROW(layer_norm(x, random_tensor({4}), w, 1e-5), Error);
  EXPECT_THROW(layer_norm(x, w, random_tensor({1, 5}), 1e-5), Error);
  EXPECT_THROW(layer_norm(x, w, w, -1), Error);
}

}  // namespace
}  // namespace attune
