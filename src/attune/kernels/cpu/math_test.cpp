// The vector functions of math-inl.h and philox-inl.h against the C library in f64 and the scalar Philox.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "attune/base/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

std::vector<float> exp(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  map(
      static_cast<std::int64_t>(x.size()), y.data(), [](auto v) HWY_ATTR { return math::exp(F32(), v); }, x.data());
  return y;
}
std::vector<float> exp_nonpositive(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  map(
      static_cast<std::int64_t>(x.size()), y.data(), [](auto v) HWY_ATTR { return math::exp_nonpositive(F32(), v); },
      x.data());
  return y;
}
std::vector<float> sigmoid(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  map(
      static_cast<std::int64_t>(x.size()), y.data(), [](auto v) HWY_ATTR { return math::sigmoid(F32(), v); }, x.data());
  return y;
}
std::vector<float> log_one_plus(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  map(
      static_cast<std::int64_t>(x.size()), y.data(), [](auto v) HWY_ATTR { return math::log_one_plus(F32(), v); },
      x.data());
  return y;
}
std::vector<float> tanh(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  map(
      static_cast<std::int64_t>(x.size()), y.data(), [](auto v) HWY_ATTR { return math::tanh(F32(), v); }, x.data());
  return y;
}
std::vector<float> normal_cdf(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const auto cdf = [](auto v) HWY_ATTR {
    auto density = v;
    return math::normal_cdf(F32(), v, density);
  };
  map(static_cast<std::int64_t>(x.size()), y.data(), cdf, x.data());
  return y;
}
std::vector<float> normal_density(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const auto density_of = [](auto v) HWY_ATTR {
    auto density = v;
    math::normal_cdf(F32(), v, density);
    return density;
  };
  map(static_cast<std::int64_t>(x.size()), y.data(), density_of, x.data());
  return y;
}

/// The numbers of at least `blocks` blocks.
std::vector<std::uint32_t> random_numbers(std::uint64_t key, std::uint64_t example, std::uint32_t position,
                                          std::uint32_t blocks) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t block = 0; block < blocks; block += static_cast<std::uint32_t>(philox_batch / 4)) {
    HWY_ALIGN std::uint32_t batch[philox_batch];
    philox_blocks(key, example, position, block, batch);
    all.insert(all.end(), batch, batch + philox_batch);
  }
  return all;
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {
HWY_EXPORT(exp);
HWY_EXPORT(exp_nonpositive);
HWY_EXPORT(sigmoid);
HWY_EXPORT(log_one_plus);
HWY_EXPORT(tanh);
HWY_EXPORT(normal_cdf);
HWY_EXPORT(normal_density);
HWY_EXPORT(random_numbers);

namespace {

std::vector<float> places(double from, double to) {
  std::vector<float> x;
  for (int i = 0; i <= 200001; ++i) x.push_back(static_cast<float>(from + (to - from) * i / 200001));
  return x;
}

template <class Exact>
void expect_close(const std::vector<float>& x, const std::vector<float>& y, Exact exact, double tolerance) {
  double worst = 0, at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double right = exact(static_cast<double>(x[i]));
    if (std::abs(right) < 0x1p-126) continue;
    double error = std::abs(static_cast<double>(y[i]) - right) / std::abs(right);
    if (!(error <= worst)) worst = error, at = static_cast<double>(x[i]);
  }
  EXPECT_LE(worst, tolerance) << "at " << at;
  testing::Test::RecordProperty("largest_relative_error", std::to_string(worst));
}

/// Runs `test(slack)`, slack 1 where multiply-adds are fused and 12 elsewhere, once for every instruction set that this
/// machine has and that is compiled in.
template <class Test>
void on_every_target(const Test& test) {
  const auto all = static_cast<std::uint64_t>(hwy::SupportedTargets()) & static_cast<std::uint64_t>(HWY_TARGETS);
  for (std::uint64_t target = 1; target != 0; target <<= 1) {
    if (!(all & target)) continue;
    // On x86 the sets from AVX2 upwards, whose bits are lower; elsewhere all but the plain code.
    const bool fused =
        HWY_ARCH_X86 ? target <= static_cast<std::uint64_t>(HWY_AVX2) : target != HWY_SCALAR && target != HWY_EMU128;
    SCOPED_TRACE(hwy::TargetName(static_cast<std::int64_t>(target)));
    hwy::SetSupportedTargetsForTest(static_cast<std::int64_t>(target));
    hwy::GetChosenTarget().Update(static_cast<std::int64_t>(target));
    test(fused ? 1.0 : 12.0);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

TEST(VectorMath, ErrorsAreWithinWhatIsPromised) {
  on_every_target([](double slack) {
    auto x = places(-87, 88.7);
    expect_close(
        x, HWY_DYNAMIC_DISPATCH(exp)(x), [](double v) { return std::exp(v); }, slack * 1.2e-7);
    x = places(-87.3, 0);
    expect_close(
        x, HWY_DYNAMIC_DISPATCH(exp_nonpositive)(x), [](double v) { return std::exp(v); }, slack * 1.2e-7);
    for (double most : {1.0, 1e-3, 1e-20}) {
      x = places(0, most);
      expect_close(
          x, HWY_DYNAMIC_DISPATCH(log_one_plus)(x), [](double v) { return std::log1p(v); }, slack * 2e-7);
    }
    for (double range : {87.0, 8.0, 0.1}) {
      x = places(-range, range);
      expect_close(
          x, HWY_DYNAMIC_DISPATCH(sigmoid)(x), [](double v) { return 1 / (1 + std::exp(-v)); }, slack * 2.5e-7);
      expect_close(
          x, HWY_DYNAMIC_DISPATCH(tanh)(x), [](double v) { return std::tanh(v); }, slack * 2e-7);
    }
    x = places(-13, 13);
    expect_close(x, HWY_DYNAMIC_DISPATCH(normal_cdf)(x), phi, slack * 5e-7);
    expect_close(x, HWY_DYNAMIC_DISPATCH(normal_density)(x), density, slack * 4e-7);
  });
}

TEST(VectorMath, EndsAreRight) {
  on_every_target([](double) {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x{-infinity, -200.f, -104.5f, 89.f, infinity, nan, 0.f};
    auto y = HWY_DYNAMIC_DISPATCH(exp)(x);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], infinity);
    EXPECT_EQ(y[4], infinity);
    EXPECT_EQ(y[6], 1);
    EXPECT_NEAR(HWY_DYNAMIC_DISPATCH(exp)({-100.f})[0], std::exp(-100.0), 1e-45);  // subnormal
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(exp_nonpositive)({-infinity})[0], 0);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(sigmoid)(x)[0], 0);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(sigmoid)(x)[4], 1);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(tanh)(x)[0], -1);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(tanh)(x)[4], 1);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(normal_cdf)(x)[1], 0);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(normal_cdf)(x)[3], 1);
  });
}

TEST(VectorMath, NaNIsNotSwallowed) {
  on_every_target([](double) {
    const std::vector<float> x{std::numeric_limits<float>::quiet_NaN()};
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(exp)(x)[0]));
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(exp_nonpositive)(x)[0]));
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(sigmoid)(x)[0]));
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(log_one_plus)(x)[0]));
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(tanh)(x)[0]));
    EXPECT_TRUE(std::isnan(HWY_DYNAMIC_DISPATCH(normal_cdf)(x)[0]));
  });
}

TEST(VectorPhilox, GivesTheScalarOnesNumbers) {
  on_every_target([](double) {
    const std::uint64_t key = 0x123456789abcdef0u, example = 0xfedcba9876543210u;
    const std::uint32_t position = 0x89abcdefu;
    std::vector<std::uint32_t> numbers = HWY_DYNAMIC_DISPATCH(random_numbers)(key, example, position, 40);
    for (std::uint32_t block = 0; block < 40; ++block)
      for (std::size_t i = 0; i < 4; ++i)
        ASSERT_EQ(numbers[4 * block + i], philox(key, example, position, block)[i])
            << "block " << block << " number " << i;
  });
}

}  // namespace
}  // namespace attune::kernels
#endif
