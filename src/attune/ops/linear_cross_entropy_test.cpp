#include "attune/ops/linear_cross_entropy.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"

namespace attune {
namespace {

using namespace conformance;

Tensor labels_for(std::int64_t rows, std::int64_t classes, bool some_ignored) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < rows; ++i) labels.push_back(some_ignored && i % 3 == 1 ? -100 : (7 * i + 3) % classes);
  return Tensor::from<std::int64_t>({rows}, labels);
}

CONFORMANCE(linear_cross_entropy) {
  for (auto [rows, in, classes] : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 2}, {40, 17, 33}, {9, 64, 130}})
    for (double smoothing : {0.0, 0.1})
      for (bool in_by_out : {false, true}) {
        Tensor labels = labels_for(rows, classes, rows > 1);
        expect_agrees({.run =
                           [=](auto t) {
                             return linear_cross_entropy(t[0], LinearWeight(t[1], in_by_out), t[2], labels,
                                                         {.label_smoothing = smoothing, .denominator = 7.0});
                           },
                       .inputs = {random_tensor({rows, in}),
                                  random_tensor(in_by_out ? Shape{in, classes} : Shape{classes, in}, 2, 0.3),
                                  random_tensor({classes}, 3)}});
      }
}

struct LossAndGradients {
  Tensor loss, x, weight, bias;
};

template <class Loss>
LossAndGradients evaluate(const Loss& loss, std::int64_t rows, std::int64_t in, std::int64_t classes) {
  Tensor x = require_gradient(random_tensor({rows, in})), w = require_gradient(random_tensor({classes, in}, 2, 0.2)),
         b = require_gradient(random_tensor({classes}, 3));
  Tensor l = loss(x, LinearWeight(w), b);
  backward(l, Tensor::scalar(0.5));
  return {l.detached(), gradient_of(x), gradient_of(w), gradient_of(b)};
}

TEST(LinearCrossEntropy, IsLinearThenCrossEntropyOverManyChunks) {
  // 13,000 classes: chunks of 483 rows.
  const std::int64_t rows = 1000, in = 20, classes = 13000;
  Tensor labels = labels_for(rows, classes, true);
  CrossEntropyOptions options{.label_smoothing = 0.1, .class_weights = Tensor::full({classes}, 0.5)};
  auto fused = evaluate([&](const Tensor& x, const LinearWeight& w,
                            const Tensor& b) { return linear_cross_entropy(x, w, b, labels, options); },
                        rows, in, classes);
  auto apart = evaluate([&](const Tensor& x, const LinearWeight& w,
                            const Tensor& b) { return cross_entropy(linear(x, w, b), labels, options); },
                        rows, in, classes);
  EXPECT_LE(relative_difference(fused.loss, apart.loss), 1e-6);
  EXPECT_LE(relative_difference(fused.x, apart.x), 1e-6);
  EXPECT_LE(relative_difference(fused.weight, apart.weight), 1e-6);
  EXPECT_LE(relative_difference(fused.bias, apart.bias), 1e-6);
}

TEST(LinearCrossEntropy, MicroBatchesWithOneDenominatorAddUpToTheBatch) {
  Tensor x = random_tensor({30, 8}), w = random_tensor({12, 8}, 2), labels = labels_for(30, 12, true);
  const double denominator = cross_entropy_denominator(labels);
  double whole = linear_cross_entropy(x, LinearWeight(w), {}, labels).item(), parts = 0;
  for (std::int64_t begin : {0, 10, 20})
    parts += linear_cross_entropy(x.rows(begin, begin + 10), LinearWeight(w), {}, labels.rows(begin, begin + 10),
                                  {.denominator = denominator})
                 .item();
  EXPECT_NEAR(whole, parts, 1e-5);
}

TEST(LinearCrossEntropy, RefusesLabelsOfNoClassAndBatchesThatCountNothing) {
  Tensor x = random_tensor({2, 8});
  LinearWeight w(random_tensor({5, 8}));
  EXPECT_THROW(linear_cross_entropy(x, w, {}, Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{0, 5})), Error);
  EXPECT_THROW(linear_cross_entropy(x, w, {}, Tensor::from<std::int64_t>({2}, std::vector<std::int64_t>{-100, -100})),
               Error);
  EXPECT_THROW(linear_cross_entropy(x, w, {}, Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{0})), Error);
}

}  // namespace
}  // namespace attune
