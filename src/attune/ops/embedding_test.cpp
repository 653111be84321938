#include "attune/ops/embedding.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

Tensor ids(std::int64_t count, std::int64_t entries) {
  RandomStream random(RandomKey{.seed = 9});
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (auto& id : values) id = random.below(entries);
  return Tensor::from<std::int64_t>({count}, values);
}

CONFORMANCE(embedding) {
  for (auto [rows, width] : odd_sizes())
    for (std::int64_t entries : {1, 7, 300})
      expect_agrees({.run = [](auto in) { return embedding(in[0], in[1]); },
                     .inputs = {random_tensor({entries, width}), ids(rows, entries)},
                     .row_inputs = {1}});
  expect_agrees({.run = [](auto in) { return embedding(in[0], in[1].to(DType::I32)); },
                 .inputs = {random_tensor({11, 24}), ids(1000, 11)},
                 .row_inputs = {1}});
}

TEST(Embedding, PaddingRowIsReadButGetsNoGradient) {
  Tensor table = require_gradient(random_tensor({4, 3}));
  Tensor y = embedding(table, Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{1, 2, 1, 0}), 1);
  EXPECT_EQ(y.values<float>()[0], table.values<float>()[3]);
  backward(sum(y));
  EXPECT_EQ(gradient_of(table).to_vector<float>(), (std::vector<float>{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}));
}

TEST(Embedding, AnIdBeyondTheTableIsNamedWithItsPlace) {
  try {
    embedding(random_tensor({4, 3}), Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{1, 4}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "embedding: index 4 at place 1 is not one of the 4 rows");
  }
  EXPECT_THROW(embedding(random_tensor({4, 3}), Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{-1})), Error);
}

}  // namespace
}  // namespace attune
