#include "attune/ops/head_products.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using conformance::expect_agrees;
using conformance::random_tensor;

CONFORMANCE(head_products) {
  for (ProductLayout layout : {ProductLayout::tokens_first, ProductLayout::heads_first})
    for (auto [tokens, entries] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {17, 33}, {70, 5}})
      for (std::int64_t table_heads : {1, 3}) {
        const bool rows = layout == ProductLayout::tokens_first && tokens > 0;
        expect_agrees({.run = [=](auto in) { return head_products(in[0], in[1], layout); },
                       .inputs = {random_tensor({tokens, 3, 11}), random_tensor({entries, table_heads, 11}, 2)},
                       .row_inputs = rows ? std::vector<int>{0} : std::vector<int>{}});
      }
}

TEST(HeadProducts, WrongShapesAreNamed) {
  const auto layout = ProductLayout::tokens_first;
  EXPECT_THROW(head_products(Tensor::zeros({2, 3, 4}), Tensor::zeros({5, 2, 4}), layout), Error);
  EXPECT_THROW(head_products(Tensor::zeros({2, 3, 4}), Tensor::zeros({5, 3, 5}), layout), Error);
  EXPECT_THROW(head_products(Tensor::zeros({2, 3}), Tensor::zeros({5, 3, 5}), layout), Error);
}

}  // namespace
}  // namespace attune
