#include "attune/ops/quantised.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/kernels/random_blocks.h"
#include "attune/ops/embedding.h"
#include "attune/ops/int8.h"
#include "attune/ops/linear.h"

namespace attune {
namespace {

using namespace conformance;
using kernels::random_blocks;

// x is rounded to 8 bits: each of its values is off by up to 1 / 254 of its block's largest, mostly less than half of
// that and of either sign, so that sums of many are off by a few thousandths of the largest result.
constexpr double rounding_of_x = 2e-2;

CONFORMANCE(quantised_linear) {
  for (QuantisedFormat format : all_quantised_formats) {
    for (std::int64_t rows : {0, 1, 5, 40}) {
      const QuantisedTensor weight = random_blocks({37, 512}, format);
      expect_agrees({.run = [=](auto in) { return quantised_linear(in[0], weight, in[1]); },
                     .inputs = {random_tensor({rows, 512}), random_tensor({37}, 2)},
                     .row_inputs = {0},
                     .tolerance = rounding_of_x,
                     .difference_places = 3});
    }
  }
  const QuantisedTensor weight = random_blocks({9, 32}, QuantisedFormat::Q4_0);
  expect_agrees({.run = [=](auto in) { return quantised_linear(in[0], weight); },
                 .inputs = {random_tensor({3, 4, 40}).slice(2, 4, 36)},
                 .row_inputs = {},
                 .tolerance = 2 * rounding_of_x});
}

CONFORMANCE(quantised_embedding) {
  const Tensor ids = Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{6, 0, 3, 6});
  for (QuantisedFormat format : all_quantised_formats) {
    const QuantisedTensor table = random_blocks({7, 256}, format);
    const Tensor expected = embedding(dequantise(table), ids);
    EXPECT_TRUE(same_bits(quantised_embedding(table, ids), expected)) << name_of(format);
    EXPECT_TRUE(same_bits(quantised_embedding(table, ids, DType::F64), expected.to(DType::F64)));
    EXPECT_THROW(quantised_embedding(table, Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{7})), Error);
  }
}

CONFORMANCE(int8_linear) {
  for (std::int64_t rows : {0, 1, 7, 130}) {
    const Int8Weight weight(random_tensor({37, 70}, 3));
    expect_agrees({.run = [=](auto in) { return int8_linear(in[0], weight, in[1]); },
                   .inputs = {random_tensor({rows, 70}), random_tensor({37}, 2)},
                   .row_inputs = {0},
                   .tolerance = rounding_of_x});
  }
}

TEST(Quantised, ThereAndBackKeepsTheShapeAndComesNear) {
  const Tensor x = random_tensor({3, 5, 256});
  for (QuantisedFormat format : {QuantisedFormat::Q8_0, QuantisedFormat::Q6_K}) {
    const QuantisedTensor blocks = quantise(x, format);
    EXPECT_EQ(blocks.shape(), x.shape());
    EXPECT_LT(relative_difference(dequantise(blocks), x), 0.05);
    EXPECT_TRUE(same_bits(dequantise(blocks.rows(1, 2)), dequantise(blocks).rows(1, 2)));
  }
  EXPECT_THROW(quantise(random_tensor({3, 40}), QuantisedFormat::Q8_0), Error);
}

TEST(Int8Weight, OfATransposedWeightIsTheSame) {
  const Tensor w = random_tensor({30, 20}, 3), x = random_tensor({4, 20});
  const Tensor by_output = int8_linear(x, Int8Weight(w));
  EXPECT_TRUE(same_bits(int8_linear(x, Int8Weight(w.transposed(0, 1).contiguous(), true)), by_output));
  EXPECT_LT(relative_difference(by_output, linear(x, LinearWeight(w))), 0.02);
}

TEST(QuantisedLinear, RefusesWhatDoesNotFit) {
  const QuantisedTensor w = random_blocks({5, 64}, QuantisedFormat::Q8_0);
  EXPECT_THROW(quantised_linear(random_tensor({2, 32}), w), Error);
  EXPECT_THROW(quantised_linear(random_tensor({2, 64}), w, random_tensor({4})), Error);
  EXPECT_THROW(quantised_linear(random_tensor({2, 64}).to(DType::F16), w), Error);
}

}  // namespace
}  // namespace attune
