#include "attune/kernels/cpu/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/kernels/reference/adamw.h"

namespace attune::kernels {
namespace {

template <class T>
struct Problem {
  std::vector<T> p, g, m, v;

  explicit Problem(std::size_t n) : p(n), g(n), m(n, 0), v(n, 0) {
    RandomStream random(RandomKey{.seed = 2});
    for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<T>(static_cast<float>(random.normal()));
  }
  void step(int number) {
    RandomStream random(RandomKey{.seed = 3, .step = static_cast<std::uint64_t>(number)});
    for (T& x : g) x = static_cast<T>(static_cast<float>(random.normal()));
    adamw({.learning_rate = 1e-2, .beta2 = 0.98, .weight_decay = 0.1, .gradient_factor = 0.5, .step = number},
          AdamWValues<T>{p, g, m, v});
  }
};

TEST(AdamW, AgreesWithTheReferenceOverSteps) {
  for (std::size_t n : {0u, 1u, 7u, 33u, 20001u}) {
    Problem<float> fast(n);
    Problem<double> exact(n);
    for (int i = 1; i <= 5; ++i) fast.step(i), exact.step(i);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(fast.p[i], exact.p[i], 2e-6);
      ASSERT_NEAR(fast.v[i], exact.v[i], 1e-7);
    }
  }
}

TEST(AdamW, ReferenceIsTorchsStep) {
  // torch.optim.AdamW([p], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.3), gradients 0.5 and then -2.
  std::vector<double> p{1.5}, g{0.5}, m{0}, v{0};
  AdamWRule rule{.learning_rate = 0.1, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.3};
  adamw(rule, {p, g, m, v});
  EXPECT_NEAR(p[0], 1.3550001999996, 1e-12);
  g[0] = -2;
  rule.step = 2;
  adamw(rule, {p, g, m, v});
  EXPECT_NEAR(p[0], 1.3701891955837897, 1e-12);
}

TEST(SquaredNorm, HasTheSameBitsForAnyNumberOfThreads) {
  Problem<float> x(200003);
  int threads = num_threads();
  set_num_threads(1);
  double one = squared_norm(x.p);
  set_num_threads(3);
  EXPECT_EQ(squared_norm(x.p), one);
  set_num_threads(threads);
  std::vector<double> exact(x.p.begin(), x.p.end());
  EXPECT_NEAR(one, squared_norm(std::span<const double>(exact)), 1e-9 * one);
  EXPECT_EQ(squared_norm(std::span<const float>()), 0);
}

TEST(SquaredNorm, NaNAndInfinityShow) {
  std::vector<float> x(100, 1.0f);
  x[97] = std::nanf("");
  EXPECT_TRUE(std::isnan(squared_norm(std::span<const float>(x))));
}

TEST(ScaleInPlace, MultipliesEveryValue) {
  std::vector<float> x{1, 2, 3};
  scale_in_place(0.5, std::span<float>(x));
  EXPECT_EQ(x, (std::vector<float>{0.5f, 1.0f, 1.5f}));
}

}  // namespace
}  // namespace attune::kernels
