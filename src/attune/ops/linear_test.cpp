#include "attune/ops/linear.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

struct Sizes {
  std::int64_t rows, in, out;
};
const Sizes all_sizes[] = {{1, 1, 1},    {0, 3, 2},   {1, 5, 40}, {3, 33, 1},
                           {17, 64, 35}, {50, 7, 96}, {5, 0, 3},  {4, 400, 33}};

CONFORMANCE(linear) {
  for (auto [rows, in, out] : all_sizes) {
    for (bool in_by_out : {false, true}) {
      Shape weight = in_by_out ? Shape{in, out} : Shape{out, in};
      // Each value is a sum of `in` products of about 1: rounding grows with the length of the chain.
      expect_agrees({.run = [=](auto t) { return linear(t[0], LinearWeight(t[1], in_by_out), t[2]); },
                     .inputs = {random_tensor({rows, in}), random_tensor(weight, 2), random_tensor({out}, 3)},
                     .row_inputs = {0}});
      expect_agrees({.run = [=](auto t) { return linear(t[0], LinearWeight(t[1], in_by_out)); },
                     .inputs = {random_tensor({rows, in}), random_tensor(weight, 2)},
                     .row_inputs = {0}});
    }
  }
  // Many rows: the weight is packed on the way.
  expect_agrees({.run = [](auto t) { return linear(t[0], LinearWeight(t[1]), t[2]); },
                 .inputs = {random_tensor({1100, 21}), random_tensor({37, 21}, 2), random_tensor({37}, 3)},
                 .row_inputs = {0}});
  // Columns 5..25 of a wider tensor, and two leading dimensions.
  expect_agrees({.run = [](auto t) { return linear(t[0], LinearWeight(t[1]), t[2]); },
                 .inputs = {random_tensor({9, 40}).slice(1, 5, 25), random_tensor({7, 20}, 2), random_tensor({7}, 3)},
                 .row_inputs = {0}});
  expect_agrees({.run = [](auto t) { return linear(t[0], LinearWeight(t[1]), t[2]); },
                 .inputs = {random_tensor({3, 4, 20}), random_tensor({7, 20}, 2), random_tensor({7}, 3)},
                 .row_inputs = {0}});
}

TEST(Linear, ComputesAnExampleDoneByHand) {
  Tensor x = Tensor::from<float>({1, 2}, std::vector<float>{1, 2});
  LinearWeight w(Tensor::from<float>({3, 2}, std::vector<float>{1, 0, 0, 1, 10, 100}));
  Tensor b = Tensor::from<float>({3}, std::vector<float>{0.5f, 0, -1});
  EXPECT_EQ(linear(x, w, b).to_vector<float>(), (std::vector<float>{1.5f, 2, 209}));
}

TEST(Linear, SeesThatItsWeightWasChanged) {
  Tensor x = random_tensor({2, 8}), values = random_tensor({5, 8}, 2);
  LinearWeight w(values);
  Tensor before = linear(x, w);
  float* weight = values.mutable_data<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) weight[i] *= 2;
  values.mark_changed();
  Tensor after = linear(x, w);
  for (std::int64_t i = 0; i < before.numel(); ++i) EXPECT_EQ(after.data<float>()[i], 2 * before.data<float>()[i]);
}

TEST(Linear, GradientsOfAWeightThatIsUsedTwiceAddUp) {
  Tensor x = random_tensor({40, 9}), dy = random_tensor({40, 6}, 4);
  auto gradient = [&](int uses) {
    Tensor leaf = require_gradient(random_tensor({6, 9}, 2));
    for (int i = 0; i < uses; ++i) backward(linear(x, LinearWeight(leaf)), dy);
    return gradient_of(leaf);
  };
  Tensor once = gradient(1), twice = gradient(2);
  Tensor doubled = Tensor::like(once);
  for (std::int64_t i = 0; i < once.numel(); ++i) doubled.mutable_data<float>()[i] = 2 * once.data<float>()[i];
  EXPECT_LE(relative_difference(twice, doubled), 1e-6);
}

TEST(Linear, PackedBeforeOrOnTheWayGivesTheSameBits) {
  Tensor x = random_tensor({1500, 50}), w = random_tensor({70, 50}, 2);
  EXPECT_TRUE(same_bits(linear(x, LinearWeight(w)), linear(x, LinearWeight(require_gradient(w))).detached()));
}

TEST(Linear, RefusesWhatDoesNotFit) {
  LinearWeight w(random_tensor({5, 8}));
  EXPECT_THROW(linear(random_tensor({2, 5}), w), Error);
  EXPECT_THROW(linear(random_tensor({2, 8}), w, random_tensor({8})), Error);
  EXPECT_THROW(linear(random_tensor({2, 8}).to(DType::F64), w), Error);
  EXPECT_THROW(LinearWeight(random_tensor({5})), Error);
}

}  // namespace
}  // namespace attune
