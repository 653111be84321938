#include "attune/tensor/convert.h"

#include <gtest/gtest.h>

#include "attune/tensor/tensor.h"

namespace attune {
namespace {

/// All finite 16-bit numbers of a type in increasing order of value, as (value, bits), from 0 up.
template <class T>
std::vector<std::pair<double, std::uint16_t>> positive_numbers(std::uint16_t infinity) {
  std::vector<std::pair<double, std::uint16_t>> all;
  for (std::uint16_t bits = 0; bits < infinity; ++bits) all.push_back({static_cast<double>(to_float(T{bits})), bits});
  return all;
}

template <class T>
void expect_nearest_even(std::uint16_t infinity) {
  auto numbers = positive_numbers<T>(infinity);
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    auto [low, low_bits] = numbers[i];
    auto [high, high_bits] = numbers[i + 1];
    ASSERT_LT(low, high);
    double middle = (low + high) / 2;
    std::uint16_t even = low_bits % 2 == 0 ? low_bits : high_bits;
    ASSERT_EQ(convert<T>(low).bits, low_bits);
    ASSERT_EQ(convert<T>(-low).bits, low_bits | 0x8000);
    ASSERT_EQ(convert<T>(middle).bits, even) << middle;
    ASSERT_EQ(convert<T>(static_cast<float>(middle)).bits, even) << middle;
    // One step of f64 beside the middle: rounding to f32 in between would land on the tie.
    ASSERT_EQ(convert<T>(std::nextafter(middle, 0.0)).bits, low_bits) << middle;
    ASSERT_EQ(convert<T>(std::nextafter(middle, std::numeric_limits<double>::infinity())).bits, high_bits) << middle;
    ASSERT_EQ(convert<T>(std::nextafter(static_cast<float>(middle), 0.f)).bits, low_bits);
    ASSERT_EQ(convert<T>(std::nextafter(static_cast<float>(middle), std::numeric_limits<float>::infinity())).bits,
              high_bits);
  }
}

TEST(Convert, HalfRoundsToNearestEvenOnEveryNumber) { expect_nearest_even<Half>(0x7c00); }
TEST(Convert, BFloat16RoundsToNearestEvenOnEveryNumber) { expect_nearest_even<BFloat16>(0x7f80); }

TEST(Convert, SixteenBitTypesKeepInfinityAndNaN) {
  float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(to_half(infinity).bits, 0x7c00);
  EXPECT_EQ(to_half(-infinity).bits, 0xfc00);
  EXPECT_EQ(to_half(65519.f).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.f).bits, 0x7c00);
  EXPECT_EQ(to_half(1e30f).bits, 0x7c00);
  EXPECT_EQ(to_bfloat16(-infinity).bits, 0xff80);
  EXPECT_EQ(to_bfloat16(3.4e38f).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(to_float(to_half(nan))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(nan))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(to_float(Half{0x7c01})));
  EXPECT_EQ(to_float(Half{0xfc00}), -infinity);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24f);
}

TEST(Convert, IntegersRoundToEvenAndStopAtTheirEnds) {
  EXPECT_EQ(convert<std::int32_t>(2.5f), 2);
  EXPECT_EQ(convert<std::int32_t>(-3.5), -4);
  EXPECT_EQ(convert<std::int8_t>(127.4f), 127);
  EXPECT_EQ(convert<std::int8_t>(1000.f), 127);
  EXPECT_EQ(convert<std::int8_t>(-1000.f), -128);
  EXPECT_EQ(convert<std::uint8_t>(-1.f), 0);
  EXPECT_EQ(convert<std::uint8_t>(255.4f), 255);
  EXPECT_EQ(convert<std::uint8_t>(256.f), 255);
  EXPECT_EQ(convert<std::int64_t>(1e30f), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(convert<std::int64_t>(-1e30), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::int32_t>(2147483648.f), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(convert<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(convert<std::int8_t>(std::int64_t{-300}), -128);
  EXPECT_EQ(convert<std::uint8_t>(std::int8_t{-3}), 0);
  EXPECT_EQ(convert<std::int64_t>(Half{0x4200}), 3);
}

TEST(Convert, TensorsConvertEveryElementOfAView) {
  Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{0.5f, 1.5f, 2.5f, -0.5f, 1e10f, 300.f});
  EXPECT_EQ(x.transposed(0, 1).to(DType::I32).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 0, 2, 2147483647, 2, 300}));
}

}  // namespace
}  // namespace attune
