// A mixture of experts against its definition, and what its sorting by expert must not change.
#include "attune/nn/feedforward/experts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/softmax.h"

namespace attune {
namespace {

using conformance::random_tensor;

constexpr std::int64_t hidden = 12, count = 5;

struct Mixture {
  ParameterSet set;
  Experts experts;

  explicit Mixture(ExpertWeights weights, std::int64_t chosen = 2, DType type = DType::F32)
      : set({.checkpoint = nullptr, .initial = {.seed = 3}, .trainable = true, .type = type}, {}) {
    const Weights root(set);
    const LinearOptions dense{.bias = false, .deviation = 0.5};
    auto network = [&](const Weights& w) {
      return FeedForward{.up = Linear(w / "up", hidden, 7, dense),
                         .down = Linear(w / "down", 7, hidden, dense),
                         .gate = Linear(w / "gate", hidden, 7, dense),
                         .activation = Activation::silu};
    };
    experts.router = Linear(root / "router", hidden, count, dense);
    for (std::int64_t i = 0; i < count; ++i) experts.networks.push_back(network(root / "experts" / i));
    experts.chosen = chosen;
    experts.weights = weights;
    experts.shared = network(root / "shared");
    experts.shared_gate = Linear(root / "shared_gate", hidden, 1, dense);
  }
  Tensor operator()(const Tensor& x) const { return experts(x, Batch(), RandomKey()); }
};

TEST(Experts, AreTheWeightedSumOfTheBestScored) {
  for (ExpertWeights weights : {ExpertWeights::of_all, ExpertWeights::of_chosen}) {
    const Mixture mixture(weights, 3, DType::F64);
    const Tensor x = random_tensor({9, hidden}).to(DType::F64);
    const Tensor y = mixture(x), shares = softmax(mixture.experts.router(x));
    const Tensor gate = activation((*mixture.experts.shared_gate)(x), Activation::sigmoid);
    const Tensor shared = (*mixture.experts.shared)(x, Batch(), RandomKey());
    for (std::int64_t t = 0; t < 9; ++t) {
      const std::vector<double> share = shares.rows(t, t + 1).to_vector<double>();
      std::vector<std::size_t> order = {0, 1, 2, 3, 4};
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
      const double chosen = share[order[0]] + share[order[1]] + share[order[2]];
      std::vector<double> sum = shared.rows(t, t + 1).to_vector<double>();
      for (double& value : sum) value *= gate.to_vector<double>()[static_cast<std::size_t>(t)];
      for (std::size_t i = 0; i < 3; ++i) {
        const double weight = share[order[i]] / (weights == ExpertWeights::of_chosen ? chosen : 1);
        const std::vector<double> of =
            mixture.experts.networks[order[i]](x.rows(t, t + 1), Batch(), RandomKey()).to_vector<double>();
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight * of[c];
      }
      const std::vector<double> row = y.rows(t, t + 1).to_vector<double>();
      for (std::size_t c = 0; c < sum.size(); ++c) EXPECT_NEAR(row[c], sum[c], 1e-12);
    }
  }
}

TEST(Experts, GiveARowTheBitsThatItHasAlone) {
  const Mixture mixture(ExpertWeights::of_chosen);
  const Tensor x = random_tensor({40, hidden}), all = mixture(x);
  for (std::int64_t t = 0; t < 40; ++t)
    EXPECT_TRUE(conformance::same_bits(mixture(x.rows(t, t + 1)), all.rows(t, t + 1))) << t;
}

TEST(Experts, TheRouterAndTheChosenOnesAloneGetGradients) {
  const Mixture mixture(ExpertWeights::of_all, 1);
  const Tensor x = random_tensor({1, hidden});
  const std::vector<float> scores = mixture.experts.router(x).to_vector<float>();
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  backward(sum(mixture(x)));
  EXPECT_TRUE(gradient_of(mixture.set.find("router.weight")->value).defined());
  for (std::int64_t e = 0; e < count; ++e)
    EXPECT_EQ(gradient_of(mixture.set.find("experts." + std::to_string(e) + ".down.weight")->value).defined(),
              e == best);
}

TEST(Experts, TheBalanceIsSmallestWhereAllAreUsedAlike) {
  auto loss = [](const std::vector<float>& shares, std::vector<std::int64_t> counts) {
    Routing routing;
    routing.layers.push_back({Tensor::from<float>({2, 2}, shares), std::move(counts)});
    return balance_loss(routing).item();
  };
  EXPECT_NEAR(loss({0.5f, 0.5f, 0.5f, 0.5f}, {1, 1}), 1, 1e-6);
  EXPECT_NEAR(loss({1, 0, 1, 0}, {2, 0}), 2, 1e-6);
  EXPECT_THROW(balance_loss(Routing()), Error);
}

}  // namespace
}  // namespace attune
