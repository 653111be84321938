#include "attune/autograd/tape.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

/// y = x * factor, with its gradient: the smallest operation.
Tensor times(const Tensor& x, double factor) {
  Tensor y = Tensor::like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) y.mutable_data<double>()[i] = x.data<double>()[i] * factor;
  return record("times", y, {x}, [factor](const Tensor& dy, Gradients& d) { d.add(0, times(dy, factor)); });
}

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::like(a);
  for (std::int64_t i = 0; i < a.numel(); ++i) y.mutable_data<double>()[i] = a.data<double>()[i] * b.data<double>()[i];
  return record("product", y, {a, b}, [a, b](const Tensor& dy, Gradients& d) {
    if (d.wanted(0)) d.add(0, product(dy, b.detached()));
    if (d.wanted(1)) d.add(1, product(dy, a.detached()));
  });
}

Tensor leaf(double value) { return require_gradient(Tensor::scalar(value, DType::F64)); }

TEST(Tape, SumsTheGradientsOfAllUses) {
  Tensor x = leaf(3);
  backward(product(product(x, x), times(x, 2)));  // 2 x^3
  EXPECT_EQ(gradient_of(x).item(), 54);
}

TEST(Tape, AddsUpOverPasses) {
  Tensor x = leaf(3);
  backward(times(x, 2));
  backward(times(x, 5));
  EXPECT_EQ(gradient_of(x).item(), 7);
}

TEST(Tape, ReleasesWhatAnOperationKeptAsSoonAsItIsPassed) {
  auto kept = std::make_shared<int>(1);
  std::weak_ptr<int> watch = kept;
  Tensor x = leaf(3);
  Tensor y =
      record("keeps", Tensor::scalar(1, DType::F64), {x}, [kept](const Tensor& dy, Gradients& d) { d.add(0, dy); });
  kept.reset();
  EXPECT_FALSE(watch.expired());
  backward(y);
  EXPECT_TRUE(watch.expired());
}

TEST(Tape, AGraphIsUsedOnce) {
  Tensor x = leaf(3);
  Tensor y = times(x, 2);
  backward(y);
  EXPECT_THROW(backward(y), Error);
}

TEST(Tape, RecordsNothingUnderNoGradient) {
  Tensor x = leaf(3);
  NoGradient none;
  EXPECT_EQ(times(x, 2).grad_link(), nullptr);
}

TEST(Tape, AnOperationWithoutGradientIsRefusedByName) {
  Tensor x = leaf(3);
  try {
    forbid_gradient("argmax", {x});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("argmax has no gradient"), std::string::npos);
  }
}

TEST(Tape, CheckpointedWorkHasTheGradientsOfPlainWork) {
  Tensor weight = leaf(5), x = leaf(3);
  auto work = [&](const Tensor& t) { return product(product(t, weight), t); };  // w x^2
  backward(checkpointed(work, x));
  EXPECT_EQ(gradient_of(x).item(), 30);
  EXPECT_EQ(gradient_of(weight).item(), 9);
}

TEST(Tape, CheckpointedWorkReachesParametersBehindAnInputWithoutGradient) {
  Tensor weight = leaf(5), x = Tensor::scalar(3, DType::F64);
  backward(checkpointed([&](const Tensor& t) { return product(t, weight); }, x));
  EXPECT_EQ(gradient_of(weight).item(), 3);
}

TEST(Tape, GradientsThatAreSharedAreNotWrittenThrough) {
  Tensor a = leaf(1), b = leaf(2);
  // dy itself is handed to both inputs; a then gets a second share, which must not reach b.
  Tensor y = record("both", Tensor::scalar(0, DType::F64), {a, b}, [](const Tensor& dy, Gradients& d) {
    d.add(0, dy);
    d.add(1, dy);
  });
  backward(y);
  backward(times(a, 10));
  EXPECT_EQ(gradient_of(a).item(), 11);
  EXPECT_EQ(gradient_of(b).item(), 1);
}

}  // namespace
}  // namespace attune
