#include "attune/ops/rotary.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::same_bits;

RotaryTable table_of(const Tensor& cos, const Tensor& sin, RotaryPairing pairing, DType type) {
  return {cos.to(type), sin.to(type), pairing};
}

CONFORMANCE(rotary) {
  for (RotaryPairing pairing : {RotaryPairing::half_split, RotaryPairing::interleaved})
    for (auto [tokens, heads, width, half] : std::vector<std::array<std::int64_t, 4>>{
             {0, 2, 8, 4}, {1, 1, 2, 1}, {3, 2, 9, 3}, {7, 3, 64, 32}, {5, 1, 80, 10}, {13, 2, 50, 25}}) {
      const Tensor cos = random_tensor({tokens, half}, 5), sin = random_tensor({tokens, half}, 6);
      conformance::expect_agrees(
          {.run = [=, p = pairing](auto in) { return rotary(in[0], table_of(cos, sin, p, in[0].dtype())); },
           .inputs = {random_tensor({tokens, heads, width})}});
    }
}

TEST(Rotary, QuarterTurnSwapsThePair) {
  const Tensor x = Tensor::from<float>({1, 1, 5}, std::vector<float>{1, 2, 3, 4, 5});
  const Tensor cos = Tensor::zeros({1, 2}), sin = Tensor::full({1, 2}, 1);
  EXPECT_EQ(rotary(x, {cos, sin, RotaryPairing::half_split}).to_vector<float>(), (std::vector<float>{-3, -4, 1, 2, 5}));
  EXPECT_EQ(rotary(x, {cos, sin, RotaryPairing::interleaved}).to_vector<float>(),
            (std::vector<float>{-2, 1, -4, 3, 5}));
}

TEST(Rotary, TokenAloneHasTheBitsOfTheBatch) {
  const Tensor x = random_tensor({6, 2, 46}), cos = random_tensor({6, 23}, 5), sin = random_tensor({6, 23}, 6);
  const Tensor whole = rotary(x, {cos, sin});
  for (std::int64_t t = 0; t < 6; ++t)
    EXPECT_TRUE(same_bits(rotary(x.rows(t, t + 1), {cos.rows(t, t + 1), sin.rows(t, t + 1)}), whole.rows(t, t + 1)));
}

TEST(Rotary, SliceOfAFusedProjectionNeedsNoCopy) {
  const Tensor fused = random_tensor({5, 3 * 16}), cos = random_tensor({5, 4}, 5), sin = random_tensor({5, 4}, 6);
  const Tensor slice = fused.slice(1, 16, 32).as_shape({5, 2, 8});
  EXPECT_TRUE(same_bits(rotary(slice, {cos, sin}), rotary(slice.clone(), {cos, sin})));
}

TEST(Rotary, TableThatDoesNotFitIsNamed) {
  const Tensor x = Tensor::zeros({3, 2, 8});
  EXPECT_THROW(rotary(x, {Tensor::zeros({3, 5}), Tensor::zeros({3, 5})}), Error);
  EXPECT_THROW(rotary(x, {Tensor::zeros({2, 4}), Tensor::zeros({2, 4})}), Error);
  EXPECT_THROW(rotary(x, {Tensor::zeros({3, 4}), Tensor::zeros({3, 3})}), Error);
}

}  // namespace
}  // namespace attune
