#include "attune/ops/pooling.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"

namespace attune {
namespace {

using namespace conformance;

const std::vector<std::vector<std::int64_t>> batches = {
    {}, {0}, {1}, {3, 0, 5, 1}, {17, 2, 0, 0, 64, 31}, std::vector<std::int64_t>(500, 3)};

template <class Pool>
void expect_all_batches_agree(const Pool& pool) {
  for (const auto& lengths : batches)
    for (std::int64_t width : {1, 17, 64}) {
      Offsets offsets = Offsets::from_lengths(lengths);
      expect_agrees({.run = [&](auto in) { return pool(in, offsets); },
                     .inputs = {random_tensor({offsets.total(), width}), random_tensor({offsets.total(), 1}, 2)}});
    }
}

CONFORMANCE(segment_mean) {
  expect_all_batches_agree([](auto in, const Offsets& offsets) { return segment_mean(in[0], offsets); });
}
CONFORMANCE(segment_max) {
  expect_all_batches_agree([](auto in, const Offsets& offsets) { return segment_max(in[0], offsets); });
}
CONFORMANCE(segment_softmax_pool) {
  expect_all_batches_agree([](auto in, const Offsets& offsets) { return segment_softmax_pool(in[1], in[0], offsets); });
}

TEST(Pooling, ASegmentHasTheSameBitsAloneAsInABatch) {
  Offsets offsets = Offsets::from_lengths(std::vector<std::int64_t>{5, 0, 40, 7});
  Tensor x = random_tensor({52, 33}), scores = random_tensor({52, 1}, 2);
  for (std::int64_t s = 0; s < offsets.count(); ++s) {
    Tensor part = x.rows(offsets.begin(s), offsets.end(s)), weights = scores.rows(offsets.begin(s), offsets.end(s));
    Offsets one = Offsets::single(offsets.length(s));
    EXPECT_TRUE(same_bits(segment_mean(part, one), segment_mean(x, offsets).rows(s, s + 1)));
    EXPECT_TRUE(same_bits(segment_max(part, one), segment_max(x, offsets).rows(s, s + 1)));
    EXPECT_TRUE(
        same_bits(segment_softmax_pool(weights, part, one), segment_softmax_pool(scores, x, offsets).rows(s, s + 1)));
  }
}

TEST(Pooling, TheFirstOfEqualValuesGetsTheGradient) {
  Tensor x = require_gradient(Tensor::from<float>({3, 1}, std::vector<float>{1, 2, 2}));
  backward(sum(segment_max(x, Offsets::single(3))));
  EXPECT_EQ(gradient_of(x).to_vector<float>(), (std::vector<float>{0, 1, 0}));
}

TEST(Pooling, RowsThatDoNotFitTheSegmentsAreAnError) {
  Tensor x = random_tensor({5, 4});
  EXPECT_THROW(segment_mean(x, Offsets::single(4)), Error);
  EXPECT_THROW(segment_max(x, Offsets::single(6)), Error);
  EXPECT_THROW(segment_softmax_pool(random_tensor({4, 1}), x, Offsets::single(5)), Error);
}

}  // namespace
}  // namespace attune
