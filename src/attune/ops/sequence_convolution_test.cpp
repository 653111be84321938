#include "attune/ops/sequence_convolution.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

Offsets offsets_of(const std::vector<std::int64_t>& lengths) { return Offsets::from_lengths(lengths); }

CONFORMANCE(sequence_convolution) {
  for (std::int64_t width : {1, 3, 7}) {
    for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{1}, {0}, {9}, {2, 0, 13, 1, 5}}) {
      const Offsets offsets = offsets_of(lengths);
      expect_agrees({.run = [=](auto in) { return sequence_convolution(in[0], in[1], offsets); },
                     .inputs = {random_tensor({offsets.total(), 2, 5}), random_tensor({2, width}, 2)}});
    }
  }
  // More tokens than one thread takes at a time.
  const Offsets offsets = offsets_of({50, 400});
  expect_agrees({.run = [=](auto in) { return sequence_convolution(in[0], in[1], offsets); },
                 .inputs = {random_tensor({450, 2, 8}), random_tensor({2, 33}, 2)}});
}

TEST(SequenceConvolution, ASequenceHasTheBitsThatItHasAlone) {
  const Tensor x = random_tensor({12, 2, 5}), filters = random_tensor({2, 5}, 2);
  const Tensor together = sequence_convolution(x, filters, offsets_of({4, 0, 8}));
  EXPECT_TRUE(same_bits(together.rows(4, 12), sequence_convolution(x.rows(4, 12), filters, offsets_of({8}))));
}

TEST(SequenceConvolution, ComputesAnExampleDoneByHand) {
  Tensor x = Tensor::from<float>({3, 1, 1}, std::vector<float>{1, 2, 3});
  Tensor filters = Tensor::from<float>({1, 3}, std::vector<float>{100, 10, 1});
  EXPECT_EQ(sequence_convolution(x, filters, offsets_of({3})).to_vector<float>(), (std::vector<float>{12, 123, 230}));
}

TEST(SequenceConvolution, RefusesFiltersOfEvenWidth) {
  EXPECT_THROW(sequence_convolution(random_tensor({3, 2, 4}), random_tensor({2, 4}), offsets_of({3})), Error);
}

}  // namespace
}  // namespace attune
