#include "attune/ops/cross_entropy.h"

#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using namespace conformance;

/// Every fourth label is ignored.
Tensor labels(std::int64_t rows, std::int64_t classes) {
  RandomStream random(RandomKey{.seed = 4});
  std::vector<std::int64_t> values(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 4 == 3 ? -100 : random.below(classes);
  return Tensor::from<std::int64_t>({rows}, values);
}

Tensor positive(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25f + 0.5f * static_cast<float>(i % 5);
  return Tensor::from<float>({count}, values);
}

CONFORMANCE(cross_entropy) {
  for (double smoothing : {0.0, 0.1})
    for (bool weighted : {false, true})
      for (auto [rows, classes] : odd_sizes())
        expect_agrees({.run =
                           [smoothing, weighted, n = classes](auto in) {
                             CrossEntropyOptions options{.label_smoothing = smoothing, .denominator = 7.0};
                             if (weighted) options.class_weights = positive(n).to(in[0].dtype());
                             return cross_entropy(in[0], in[1], options);
                           },
                       .inputs = {random_tensor({rows, classes}, 1, 2), labels(rows, classes)}});
  expect_agrees({.run = [](auto in) { return cross_entropy(scale(in[0], 2.0), in[1]); },  // in the logits' own memory
                 .inputs = {random_tensor({50, 1000}), labels(50, 1000)}});
}

TEST(CrossEntropy, IsWhatPyTorchComputes) {
  // torch.nn.functional.cross_entropy(x, y, weight=w, ignore_index=-1, label_smoothing=0.1) of torch 2, in float64.
  Tensor x = Tensor::from<double>({4, 3}, std::vector<double>{0.5, -1, 2, 1, 1, 1, -0.3, 0.7, 0.1, 3, 0, -3});
  Tensor y = Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{2, 0, -1, 1});
  Tensor w = Tensor::from<double>({3}, std::vector<double>{0.5, 2, 1});
  EXPECT_NEAR(cross_entropy(x, y, {.ignore_index = -1}).item(), 1.463623116282755, 1e-12);
  EXPECT_NEAR(cross_entropy(x, y, {.ignore_index = -1, .label_smoothing = 0.1, .class_weights = w}).item(),
              1.9972931891235575, 1e-12);
}

TEST(CrossEntropy, MicroBatchesThatShareADenominatorAddUpToTheWhole) {
  Tensor x = random_tensor({20, 9}), y = labels(20, 9);
  CrossEntropyOptions options{.label_smoothing = 0.1, .class_weights = positive(9)};
  Tensor whole = require_gradient(x), parts = require_gradient(x);
  backward(cross_entropy(whole, y, options));
  double first = cross_entropy_denominator(y.rows(0, 13), options),
         second = cross_entropy_denominator(y.rows(13, 20), options);
  options.denominator = first + second;
  EXPECT_NEAR(*options.denominator, cross_entropy_denominator(y, options), 1e-12);
  backward(cross_entropy(row_range(parts, 0, 13), y.rows(0, 13), options));
  backward(cross_entropy(row_range(parts, 13, 20), y.rows(13, 20), options));
  EXPECT_LE(relative_difference(gradient_of(parts), gradient_of(whole)), 1e-6);
}

TEST(CrossEntropy, LogitsThatSomeoneHoldsAreNotOverwritten) {
  Tensor x = require_gradient(random_tensor({4, 9}));
  Tensor logits = scale(x, 2.0), kept = logits.clone();
  backward(cross_entropy(logits, labels(4, 9)));
  EXPECT_TRUE(same_bits(logits, kept));
}

TEST(CrossEntropy, ALabelThatIsNoClassIsNamedWithItsRow) {
  try {
    cross_entropy(random_tensor({2, 3}), Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{0, 3}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "cross_entropy: label 3 of row 1 is neither one of 3 classes nor -100, which marks ignored rows");
  }
}

TEST(CrossEntropy, NoRowThatCountsIsAnErrorUnlessADenominatorIsGiven) {
  Tensor none = Tensor::full({2}, -100, DType::I64);
  EXPECT_THROW(cross_entropy(random_tensor({2, 3}), none), Error);
  EXPECT_EQ(cross_entropy(random_tensor({2, 3}), none, {.denominator = 5}).item(), 0);
  EXPECT_EQ(cross_entropy(random_tensor({0, 3}), Tensor::empty({0}, DType::I64), {.denominator = 5}).item(), 0);
}

TEST(CrossEntropy, NaNInTheLogitsShowsInTheLoss) {
  Tensor x = random_tensor({3, 40});
  x.mutable_values<float>()[57] = std::nanf("");
  EXPECT_TRUE(std::isnan(cross_entropy(x, labels(3, 40)).item()));
}

}  // namespace
}  // namespace attune
