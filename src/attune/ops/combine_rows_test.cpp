#include "attune/ops/combine_rows.h"

#include <array>

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

Tensor indices_below(std::int64_t rows, std::int64_t count) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back((i * 7 + i * i) % rows);  // some come several times
  return Tensor::from<std::int64_t>({count}, indices);
}

CONFORMANCE(combine_rows) {
  for (auto [tokens, k, width] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {1, 2, 17}, {5, 3, 64}, {13, 2, 33}, {70, 4, 8}, {3, 1, 260}, {0, 2, 5}}) {
    const Tensor indices = indices_below(11, tokens * k);
    expect_agrees({.run = [=](auto in) { return combine_rows(in[0], in[1], indices); },
                   .inputs = {random_tensor({11, width}), random_tensor({tokens, k}, 2)}});
  }
}

TEST(CombineRows, ARowHasTheSameBitsAloneAsInABatch) {
  const Tensor x = random_tensor({11, 37}), weights = random_tensor({9, 3}, 2), indices = indices_below(11, 27);
  const Tensor all = combine_rows(x, weights, indices);
  for (std::int64_t t = 0; t < 9; ++t)
    EXPECT_TRUE(same_bits(combine_rows(x, weights.rows(t, t + 1), indices.rows(3 * t, 3 * t + 3)), all.rows(t, t + 1)));
}

TEST(CombineRows, WhatDoesNotFitIsAnError) {
  const Tensor x = random_tensor({4, 3}), weights = random_tensor({2, 2}, 2);
  EXPECT_THROW(combine_rows(x, weights, indices_below(4, 3)), Error);
  EXPECT_THROW(combine_rows(x, weights.to(DType::F64), indices_below(4, 4)), Error);
  EXPECT_THROW(combine_rows(x, weights, Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{0, 1, 2, 4})), Error);
}

}  // namespace
}  // namespace attune
