#include "attune/ops/batched_matmul.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/linear.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using namespace conformance;

CONFORMANCE(batched_matmul) {
  struct Sizes {
    std::int64_t batch, m, k, n;
  };
  for (auto [batch, m, k, n] : {Sizes{1, 1, 1, 1}, Sizes{3, 5, 7, 2}, Sizes{2, 33, 17, 40}, Sizes{0, 4, 4, 4},
                                Sizes{4, 3, 0, 2}, Sizes{2, 0, 3, 5}, Sizes{5, 64, 64, 64}})
    expect_agrees({.run = [](auto in) { return batched_matmul(in[0], in[1]); },
                   .inputs = {random_tensor({batch, m, k}), random_tensor({batch, k, n}, 2)},
                   .row_inputs = {0, 1}});
  // One product, and two leading dimensions of strided views: heads side by side, and a transposed operand.
  expect_agrees({.run = [](auto in) { return batched_matmul(in[0], in[1]); },
                 .inputs = {random_tensor({19, 70}), random_tensor({70, 35}, 2)},
                 .row_inputs = {}});
  expect_agrees({.run =
                     [](auto in) {
                       Tensor q = transposed(reshape(in[0], {2, 9, 3, 5}), 1, 2);
                       Tensor k = transposed(reshape(in[1], {2, 9, 3, 5}), 1, 2);
                       return batched_matmul(q, transposed(k, 2, 3));  // [2, 3, 9, 9]
                     },
                 .inputs = {random_tensor({18, 15}), random_tensor({18, 15}, 2)}});
}

TEST(BatchedMatmul, OneMatrixIsWhatLinearGivesForItsTranspose) {
  Tensor a = random_tensor({1, 6, 8}), c = random_tensor({1, 8, 5}, 2);
  EXPECT_TRUE(same_bits(batched_matmul(a, c).as_shape({6, 5}),
                        linear(a.as_shape({6, 8}), LinearWeight(c.as_shape({8, 5}), true))));
}

TEST(BatchedMatmul, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(batched_matmul(random_tensor({2, 3, 4}), random_tensor({2, 3, 4})), Error);
  EXPECT_THROW(batched_matmul(random_tensor({2, 3, 4}), random_tensor({3, 4, 3})), Error);
  EXPECT_THROW(batched_matmul(random_tensor({4}), random_tensor({4})), Error);
  EXPECT_THROW(batched_matmul(random_tensor({3, 4}), random_tensor({4, 3}).to(DType::F64)), Error);
}

}  // namespace
}  // namespace attune
