#include "attune/ops/view.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

Tensor list(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

CONFORMANCE(reshape) {
  expect_agrees({.run = [](auto in) { return reshape(in[0], {6, 2, 10}); }, .inputs = {random_tensor({12, 10})}});
  expect_agrees({.run =
                     [](auto in) {
                       return reshape(columns(in[0], 4, 12), {5, 2, 4});
                     },
                 .inputs = {random_tensor({5, 16})}});
  expect_agrees({.run = [](auto in) { return reshape(in[0], {0, 3, 3}); }, .inputs = {random_tensor({0, 9})}});
}

CONFORMANCE(columns) {
  for (auto [rows, width] : odd_sizes())
    expect_agrees({.run = [w = width](auto in) { return columns(in[0], w / 3, w); },
                   .inputs = {random_tensor({rows, width})},
                   .row_inputs = {0}});
  // Three projections out of one, each used: their gradients lie side by side.
  expect_agrees(
      {.run =
           [](auto in) { return multiply(columns(in[0], 0, 7), add(columns(in[0], 7, 14), columns(in[0], 14, 21))); },
       .inputs = {random_tensor({9, 21})},
       .row_inputs = {0}});
}

CONFORMANCE(transposed) {
  expect_agrees({.run = [](auto in) { return transposed(in[0], 0, 1); }, .inputs = {random_tensor({7, 5})}});
  expect_agrees({.run = [](auto in) { return transposed(in[0], -1, 1); }, .inputs = {random_tensor({3, 4, 2, 5})}});
  expect_agrees({.run = [](auto in) { return transposed(in[0], 0, 2); }, .inputs = {random_tensor({0, 4, 2})}});
}

CONFORMANCE(contiguous) {
  expect_agrees({.run =
                     [](auto in) {
                       return reshape(contiguous(transposed(in[0], 0, 1)), {4, 21});
                     },
                 .inputs = {random_tensor({7, 4, 3})}});
  expect_agrees({.run = [](auto in) { return contiguous(in[0]); }, .inputs = {random_tensor({7, 4})}});
}

CONFORMANCE(row_range) {
  expect_agrees({.run = [](auto in) { return row_range(in[0], 2, 9); }, .inputs = {random_tensor({11, 13})}});
  expect_agrees({.run = [](auto in) { return row_range(in[0], 3, 3); }, .inputs = {random_tensor({11, 13})}});
  expect_agrees({.run = [](auto in) { return row_range(in[0], 1, 3); }, .inputs = {random_tensor({4, 3, 5})}});
}

CONFORMANCE(select_rows) {
  expect_agrees({.run =
                     [](auto in) {
                       return select_rows(in[0], list({4, 0, 4, 2, 4}));
                     },
                 .inputs = {random_tensor({5, 17})}});
  expect_agrees({.run = [](auto in) { return select_rows(in[0], list({})); }, .inputs = {random_tensor({5, 17})}});
  expect_agrees({.run =
                     [](auto in) {
                       return select_rows(in[0], list({2, 1}));
                     },
                 .inputs = {random_tensor({3, 2, 9})}});
  expect_agrees({.run =
                     [](auto in) {
                       return select_rows(columns(in[0], 3, 8), list({2, 1, 1}));
                     },
                 .inputs = {random_tensor({3, 9})}});
}

CONFORMANCE(concatenate_rows) {
  expect_agrees({.run =
                     [](auto in) {
                       return concatenate_rows({in[0], in[1], in[2], in[0]});
                     },
                 .inputs = {random_tensor({2, 5}), random_tensor({0, 5}), random_tensor({7, 5}, 3)}});
  expect_agrees({.run =
                     [](auto in) {
                       return concatenate_rows({columns(in[0], 1, 4), columns(in[0], 3, 6)});
                     },
                 .inputs = {random_tensor({4, 6})}});
}

TEST(View, WhatDoesNotFitIsAnError) {
  Tensor x = random_tensor({4, 6});
  EXPECT_THROW(reshape(x, {5, 5}), Error);
  EXPECT_THROW(columns(x, 3, 7), Error);
  EXPECT_THROW(row_range(x, 2, 1), Error);
  EXPECT_THROW(select_rows(x, list({-1})), Error);
  EXPECT_THROW(select_rows(x, random_tensor({2})), Error);
  EXPECT_THROW(concatenate_rows({}), Error);
  EXPECT_THROW(concatenate_rows({x, random_tensor({4, 5})}), Error);
  EXPECT_THROW(concatenate_rows({x, x.to(DType::F64)}), Error);
}

TEST(View, AnIndexOutOfRangeIsNamedWithItsPlace) {
  try {
    select_rows(random_tensor({4, 6}), list({0, 3, 4}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "select_rows: index 4 at place 2 is not one of the 4 rows");
  }
}

TEST(View, AColumnSliceCopiesNothing) {
  Tensor x = random_tensor({4, 6});
  EXPECT_EQ(columns(x, 2, 4).data<float>(), x.data<float>() + 2);
}

}  // namespace
}  // namespace attune
