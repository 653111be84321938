#include "attune/kernels/cpu/quantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/kernels/reference/dequantise.h"

namespace attune::kernels {
namespace {

/// The data of tools/golden/quantised.py.
class Normals {
 public:
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(state_ >> 11) + 0.5) / 0x1p53;
  }
  std::uint64_t state_ = 1;
};

std::vector<float> values_of(const std::string& kind, std::size_t count) {
  Normals normal;
  std::vector<float> values;
  while (values.size() < count) {
    double v = normal();
    if (kind == "heavy") {
      double squares = 0;
      for (int i = 0; i < 3; ++i) {
        const double n = normal();
        squares += n * n;
      }
      v /= std::sqrt(squares / 3);
    }
    values.push_back(static_cast<float>(v));
  }
  return values;
}

std::vector<float> there_and_back(QuantisedFormat format, const std::vector<float>& x) {
  const auto count = static_cast<std::int64_t>(x.size());
  const QuantisedBlock block = block_of(format);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count / block.values * block.bytes));
  quantise(format, {x.data(), 1, count, count}, bytes.data());
  std::vector<float> y(x.size());
  dequantise(format, bytes.data(), y);
  return y;
}

double rms(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

constexpr QuantisedFormat written[] = {QuantisedFormat::Q8_0, QuantisedFormat::Q4_0, QuantisedFormat::Q4_1,
                                       QuantisedFormat::Q4_K, QuantisedFormat::Q5_K, QuantisedFormat::Q6_K};

TEST(Quantise, LeavesNoMoreThanTheReferenceDoes) {
  const Json golden = read_json(Path(ATTUNE_GOLDEN_DIR) / "quantised/blocks.json");
  int compared = 0;
  for (const auto& [name, error] : golden["errors"].items()) {
    const auto space = name.find(' ');
    const auto format = quantised_format_named(name.substr(0, space));
    ASSERT_TRUE(format) << name;
    const std::vector<float> x = values_of(name.substr(space + 1), golden["count"].get<std::size_t>());
    const double ours = rms(there_and_back(*format, x), x);
    EXPECT_LE(ours, error.get<double>() * (1 + 1e-6)) << name;
    RecordProperty(name, std::to_string(ours / error.get<double>()));
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

TEST(Quantise, MoreBitsLeaveLess) {
  const std::vector<float> x = values_of("normal", 4096);
  const auto left = [&](QuantisedFormat format) { return rms(there_and_back(format, x), x); };
  EXPECT_LT(left(QuantisedFormat::Q8_0), 0.01);
  EXPECT_LT(left(QuantisedFormat::Q8_0), left(QuantisedFormat::Q6_K));
  EXPECT_LT(left(QuantisedFormat::Q6_K), left(QuantisedFormat::Q5_K));
  EXPECT_LT(left(QuantisedFormat::Q5_K), left(QuantisedFormat::Q4_K));
  EXPECT_LT(left(QuantisedFormat::Q4_K), left(QuantisedFormat::Q4_0));
}

TEST(Quantise, ZerosAndConstantsAndTinyAndHugeValuesComeBackNear) {
  for (QuantisedFormat format : written) {
    SCOPED_TRACE(std::string(name_of(format)));
    EXPECT_EQ(there_and_back(format, std::vector<float>(256, 0.0f)), std::vector<float>(256, 0.0f));
    for (float value : {1.0f, -0.3f, 0.05f, 4000.0f})
      for (float y : there_and_back(format, std::vector<float>(256, value))) EXPECT_NEAR(y / value, 1, 0.01);
    // Below what the scales can say.
    for (float y : there_and_back(format, std::vector<float>(256, 1e-30f))) EXPECT_NEAR(y, 0, 1e-6);
    for (float y : there_and_back(format, std::vector<float>(256, 1e30f))) EXPECT_TRUE(std::isfinite(y));
  }
}

TEST(Quantise, APartThatIsFarLargerLeavesTheOthersAlone) {
  for (QuantisedFormat format : written) {
    std::vector<float> x = values_of("normal", 512);
    for (std::size_t i = 0; i < 256; ++i) x[i] *= 1000;
    const std::vector<float> y = there_and_back(format, x);
    const std::vector<float> small_x(x.begin() + 256, x.end()), small_y(y.begin() + 256, y.end());
    EXPECT_LT(rms(small_x, small_y), 0.15) << name_of(format);
  }
}

TEST(Quantise, WhatCannotBeKeptIsAnError) {
  std::vector<float> x(256, 1.0f);
  std::vector<std::byte> bytes(1000);
  const Rows<const float> rows{x.data(), 1, 256, 256};
  EXPECT_THROW(quantise(QuantisedFormat::IQ4_NL, rows, bytes.data()), Error);
  EXPECT_THROW(quantise(QuantisedFormat::Q4_K, {x.data(), 1, 128, 128}, bytes.data()), Error);
  x[7] = std::nanf("");
  EXPECT_THROW(quantise(QuantisedFormat::Q8_0, rows, bytes.data()), Error);
}

}  // namespace
}  // namespace attune::kernels
