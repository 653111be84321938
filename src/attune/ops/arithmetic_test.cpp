#include "attune/ops/arithmetic.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(add) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return add(in[0], in[1]); },
                   .inputs = {random_tensor({rows, width}), random_tensor({rows, width}, 2)},
                   .row_inputs = {0, 1}});
}

CONFORMANCE(multiply) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return multiply(in[0], in[1]); },
                   .inputs = {random_tensor({rows, width}), random_tensor({rows, width}, 2)},
                   .row_inputs = {0, 1}});
  // Strided views: columns 3..20 of wider tensors.
  expect_agrees({.run = [](auto in) { return multiply(in[0], in[1]); },
                 .inputs = {random_tensor({9, 33}).slice(1, 3, 20), random_tensor({9, 40}, 2).slice(1, 3, 20)},
                 .row_inputs = {0, 1}});
}

CONFORMANCE(scale) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return scale(in[0], -0.37); },
                   .inputs = {random_tensor({rows, width})},
                   .row_inputs = {0}});
}

CONFORMANCE(clamp) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return clamp(in[0], 0.7); },
                   .inputs = {random_tensor({rows, width})},
                   .row_inputs = {0}});
}

CONFORMANCE(add_row) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return add_row(in[0], in[1]); },
                   .inputs = {random_tensor({rows, width}), random_tensor({width}, 2)},
                   .row_inputs = {0}});
  expect_agrees({.run = [](auto in) { return add_row(in[0], in[1]); },
                 .inputs = {random_tensor({600, 65}), random_tensor({65}, 2)},  // many blocks of partial sums
                 .row_inputs = {0}});
}

CONFORMANCE(sum) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [](auto in) { return sum(in[0]); }, .inputs = {random_tensor({rows, width})}});
  expect_agrees({.run = [](auto in) { return sum(in[0]); }, .inputs = {random_tensor({1000, 201}).slice(1, 1, 200)}});
  expect_agrees({.run = [](auto in) { return sum(in[0]); }, .inputs = {random_tensor({1000, 201})}});
}

CONFORMANCE(mean) {
  expect_agrees({.run = [](auto in) { return mean(in[0]); }, .inputs = {random_tensor({17, 31})}});
}

TEST(Arithmetic, ClampKeepsWhatLiesWithin) {
  const Tensor x = Tensor::from<float>({4}, std::vector<float>{-3, -0.5f, 2, 2.5f});
  EXPECT_EQ(clamp(x, 2).to_vector<float>(), (std::vector<float>{-2, -0.5f, 2, 2}));
  EXPECT_THROW(clamp(x, -1), Error);
}

TEST(Arithmetic, TensorsThatDoNotFitAreErrorsThatNameTheOperation) {
  Tensor a = random_tensor({2, 3}), b = random_tensor({3, 2});
  for (auto attempt : {+[](const Tensor&x, const Tensor&y) { return add(x, y); },
                       +[](const Tensor&x, const Tensor&y) { return multiply(x, y); },
                       +[](const Tensor&x, const Tensor&y) { return add_row(x, y); }}) {
    EXPECT_THROW(attempt(a, b), Error);
    EXPECT_THROW(attempt(a, a.to(DType::F64)), Error);
  }
  EXPECT_THROW(add(a.to(DType::F16), a.to(DType::F16)), Error);
  EXPECT_THROW(mean(Tensor::empty({0, 3})), Error);
}

}  // namespace
}  // namespace attune
