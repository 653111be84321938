#include "attune/kernels/cpu/quantised_matmul.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/int8_matmul.h"
#include "attune/kernels/cpu/quantised_kernels.h"
#include "attune/kernels/random_blocks.h"
#include "attune/kernels/reference/dequantise.h"

namespace attune::kernels {
namespace {

/// Runs `body` with each set of instructions that was compiled and that this CPU has.
template <class Body>
void for_each_target(Body&& body, bool fast_ones = false) {
  for (std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_EMU128}) {
    if (fast_ones && target == HWY_EMU128) continue;
    if (!(hwy::SupportedTargets() & target) && target != HWY_EMU128) continue;
    hwy::SetSupportedTargetsForTest(target);
    for (bool instructions : {true, false}) {
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + (instructions ? "" : " without dot products"));
      use_dot_product_instructions(instructions);
      body();
    }
    use_dot_product_instructions(true);
    hwy::SetSupportedTargetsForTest(0);
  }
}

struct Sizes {
  std::int64_t rows, blocks, outputs;  // blocks: inputs are so many times 256
};
/// Around the tile's 32 outputs, its 768 inputs and the 1, 2, 4 and 6 rows at once.
const Sizes all_sizes[] = {{1, 1, 1}, {1, 4, 33}, {2, 1, 31}, {3, 3, 64}, {7, 2, 40}, {13, 4, 35}};

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  RandomStream random(RandomKey{.seed = seed});
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

std::vector<float> product(const std::vector<float>& x, std::int64_t rows, const QuantisedTensor& w,
                           const float* bias) {
  std::vector<float> y(static_cast<std::size_t>(rows * w.dim(0)), std::nanf(""));
  matmul(Rows<const float>{x.data(), rows, w.width(), w.width()}, w, Rows<float>{y.data(), rows, w.dim(0), w.dim(0)},
         bias);
  return y;
}

/// x as the kernels round it, in blocks of 32.
std::vector<double> rounded(const std::vector<float>& x) {
  std::vector<double> values(x.size());
  for (std::size_t b = 0; b < x.size(); b += 32) {
    float most = 0;
    for (std::size_t i = b; i < b + 32; ++i) most = std::max(most, std::abs(x[i]));
    const float scale = most / 16256, inverse = most > 0 ? 16256 / most : 0;
    for (std::size_t i = b; i < b + 32; ++i)
      values[i] = static_cast<double>(scale) * static_cast<double>(std::nearbyint(x[i] * inverse));
  }
  return values;
}

/// Against sums in f64 of products with x as it is rounded: what is left is rounding of f32. And against the products
/// with x itself: within the bound that quantised_matmul.h states.
void expect_near_reference(const Sizes& s, QuantisedFormat format) {
  const std::int64_t inputs = 256 * s.blocks;
  const QuantisedTensor w = random_blocks({s.outputs, inputs}, format);
  const std::vector<float> x = random_values(s.rows * inputs, 3), bias = random_values(s.outputs, 4);
  const std::vector<float> y = product(x, s.rows, w, bias.data());
  const std::vector<double> coded = rounded(x);
  std::vector<float> row(static_cast<std::size_t>(inputs));
  for (std::int64_t j = 0; j < s.outputs; ++j) {
    dequantise(format, w.rows(j, j + 1).data(), row);
    for (std::int64_t i = 0; i < s.rows; ++i) {
      double exact = bias[static_cast<std::size_t>(j)], true_sum = exact, size = std::abs(exact), bound = 0;
      for (std::int64_t b = 0; b < inputs; b += 32) {
        double most_x = 0, most_w = 0;
        for (std::int64_t k = b; k < b + 32; ++k) {
          const auto at = static_cast<std::size_t>(i * inputs + k);
          const double weight = row[static_cast<std::size_t>(k)];
          exact += coded[at] * weight;
          true_sum += static_cast<double>(x[at]) * weight;
          most_x = std::max(most_x, std::abs(static_cast<double>(x[at])));
          most_w = std::max(most_w, std::abs(weight));
        }
        for (std::int64_t k = b; k < b + 32; ++k)
          bound += std::abs(static_cast<double>(row[static_cast<std::size_t>(k)])) * most_x / 32512;
        size += 32 * most_x * most_w;
      }
      const double ours = y[static_cast<std::size_t>(i * s.outputs + j)];
      ASSERT_NEAR(ours, exact, 3e-7 * size) << name_of(format) << " row " << i << " output " << j;
      ASSERT_LE(std::abs(ours - true_sum), bound * (1 + 1e-5) + 3e-7 * size) << name_of(format);
    }
  }
}

TEST(QuantisedMatmul, MultipliesEveryFormatOnEveryTarget) {
  for_each_target([] {
    for (QuantisedFormat format : all_quantised_formats)
      for (const Sizes& s : all_sizes) expect_near_reference(s, format);
  });
}

TEST(QuantisedMatmul, ARowHasTheSameBitsAloneAndWithAnyThreads) {
  const int before = num_threads();
  for_each_target(
      [&] {
        for (QuantisedFormat format : all_quantised_formats) {
          const QuantisedTensor w = random_blocks({33, 1024}, format);
          const std::vector<float> x = random_values(258 * 1024, 5);
          set_num_threads(1);
          const std::vector<float> all = product(x, 258, w, nullptr);
          for (int threads : {2, 3}) {
            set_num_threads(threads);
            EXPECT_EQ(product(x, 258, w, nullptr), all) << name_of(format);
          }
          for (std::int64_t i : {0, 5, 255, 256, 257}) {
            const std::vector<float> row(x.begin() + i * 1024, x.begin() + (i + 1) * 1024);
            const std::vector<float> alone = product(row, 1, w, nullptr);
            EXPECT_EQ(std::memcmp(alone.data(), all.data() + i * 33, 33 * sizeof(float)), 0) << name_of(format) << i;
          }
        }
      },
      true);
  set_num_threads(before);
}

TEST(QuantisedMatmul, RowsInAnotherOrderGiveTheSameBitsThere) {
  const QuantisedTensor w = random_blocks({70, 256}, QuantisedFormat::Q4_1);
  std::vector<std::int64_t> order(70);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i * 29 % 70);
  const QuantisedTensor turned = w.in_order(order);
  const std::vector<float> x = random_values(3 * 256, 5), bias = random_values(70, 4);
  std::vector<float> turned_bias;
  for (std::int64_t row : order) turned_bias.push_back(bias[static_cast<std::size_t>(row)]);
  for (std::int64_t rows : {1, 3}) {
    const std::vector<float> y = product(x, rows, w, bias.data()), z = product(x, rows, turned, turned_bias.data());
    for (std::size_t i = 0; i < z.size(); ++i)
      EXPECT_EQ(z[i], y[i / 70 * 70 + static_cast<std::size_t>(order[i % 70])]) << i;
  }
}

TEST(QuantisedMatmul, WhatIsNoNumberStaysSoInItsRowAlone) {
  const QuantisedTensor w = random_blocks({5, 64}, QuantisedFormat::Q8_0);
  for (float bad : {std::nanf(""), INFINITY}) {
    std::vector<float> x = random_values(3 * 64, 5);
    x[64 + 40] = bad;
    const std::vector<float> y = product(x, 3, w, nullptr);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 5 == 1) << i;
  }
  for (float y : product(std::vector<float>(64, 0.0f), 1, w, nullptr)) EXPECT_EQ(y, 0);
  for (float y : product(std::vector<float>(64, 1e-38f), 1, w, nullptr)) EXPECT_NEAR(y, 0, 1e-30);
}

TEST(QuantisedMatmul, RefusesWhatDoesNotFit) {
  const QuantisedTensor w = random_blocks({4, 64}, QuantisedFormat::Q8_0);
  std::vector<float> x(128), y(16);
  EXPECT_THROW(matmul(Rows<const float>{x.data(), 1, 32, 32}, w, Rows<float>{y.data(), 1, 4, 4}), Error);
  EXPECT_THROW(matmul(Rows<const float>{x.data(), 2, 64, 64}, w, Rows<float>{y.data(), 1, 4, 4}), Error);
}

void expect_near_int8(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const std::vector<float> weights = random_values(outputs * inputs, 1), x = random_values(rows * inputs, 2);
  const std::vector<float> bias = random_values(outputs, 4);
  const Int8Matrix w(Matrix<float>(weights.data(), outputs, inputs, inputs, 1));
  std::vector<float> kept(weights.size()), y(static_cast<std::size_t>(rows * outputs));
  w.dequantise({kept.data(), outputs, inputs, inputs});
  matmul(Rows<const float>{x.data(), rows, inputs, inputs}, w, Rows<float>{y.data(), rows, outputs, outputs},
         bias.data());
  for (std::int64_t i = 0; i < rows; ++i) {
    float most = 0;
    for (std::int64_t k = 0; k < inputs; ++k)
      most = std::max(most, std::abs(x[static_cast<std::size_t>(i * inputs + k)]));
    const float scale = most / 127, inverse = most > 0 ? 127 / most : 0;
    for (std::int64_t j = 0; j < outputs; ++j) {
      double exact = 0;
      for (std::int64_t k = 0; k < inputs; ++k)
        exact += static_cast<double>(std::nearbyint(x[static_cast<std::size_t>(i * inputs + k)] * inverse)) *
                 static_cast<double>(scale) * static_cast<double>(kept[static_cast<std::size_t>(j * inputs + k)]);
      exact += static_cast<double>(bias[static_cast<std::size_t>(j)]);
      ASSERT_NEAR(y[static_cast<std::size_t>(i * outputs + j)], exact, 2e-6 * (1 + std::abs(exact))) << i << " " << j;
    }
  }
  std::vector<float> alone(static_cast<std::size_t>(outputs));
  matmul(Rows<const float>{x.data() + (rows - 1) * inputs, 1, inputs, inputs}, w,
         Rows<float>{alone.data(), 1, outputs, outputs}, bias.data());
  EXPECT_EQ(std::memcmp(alone.data(), y.data() + (rows - 1) * outputs, alone.size() * sizeof(float)), 0);
}

TEST(Int8Matmul, MultipliesWhatItKeepsOnEveryTarget) {
  for_each_target([] {
    for (const auto& [rows, inputs, outputs] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {2, 3, 5}, {5, 33, 31}, {9, 64, 64}, {15, 130, 97}, {131, 17, 40}})
      expect_near_int8(rows, inputs, outputs);
  });
}

TEST(Int8Matmul, SaysWhatRoundingLeftOut) {
  const std::vector<float> weights = random_values(64 * 96, 1);
  const Int8Matrix w(Matrix<float>(weights.data(), 64, 96, 96, 1));
  std::vector<float> kept(weights.size());
  w.dequantise({kept.data(), 64, 96, 96});
  double squares = 0, all = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double d = static_cast<double>(weights[i]) - static_cast<double>(kept[i]);
    squares += d * d, all += static_cast<double>(weights[i]) * static_cast<double>(weights[i]);
  }
  EXPECT_NEAR(w.error(), std::sqrt(squares / all), 1e-9);
  EXPECT_LT(w.error(), 0.01);
  std::vector<float> bad(32, INFINITY);
  EXPECT_THROW(Int8Matrix(Matrix<float>(bad.data(), 1, 32, 32, 1)), Error);
}

TEST(Int8Matmul, KeepsTheCodesOfAFileAndMultipliesByThemAll) {
  const std::int64_t inputs = 70, outputs = 37;
  std::vector<std::int8_t> codes(static_cast<std::size_t>(inputs * outputs));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::int8_t>(i * 37 % 256 - 128);
  std::vector<float> scales(static_cast<std::size_t>(outputs)), x(static_cast<std::size_t>(inputs), 127.0f);
  for (std::size_t j = 0; j < scales.size(); ++j) scales[j] = 0.5f + static_cast<float>(j);
  for_each_target([&] {
    const Int8Matrix w(Rows<const std::int8_t>{codes.data(), outputs, inputs, inputs}, scales.data());
    std::vector<std::int8_t> kept(codes.size());
    w.write_codes({kept.data(), outputs, inputs, inputs});
    EXPECT_EQ(kept, codes);
    EXPECT_TRUE(std::ranges::equal(w.scales(), scales));
    std::vector<float> y(scales.size());
    matmul(Rows<const float>{x.data(), 1, inputs, inputs}, w, Rows<float>{y.data(), 1, outputs, outputs});
    for (std::int64_t j = 0; j < outputs; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inputs; ++k) sum += 127.0 * codes[static_cast<std::size_t>(j * inputs + k)];
      const double scale = scales[static_cast<std::size_t>(j)];
      EXPECT_NEAR(y[static_cast<std::size_t>(j)], sum * scale, 1e-6 * std::abs(sum * scale)) << j;
    }
  });
  scales[3] = INFINITY;
  EXPECT_THROW(Int8Matrix(Rows<const std::int8_t>{codes.data(), outputs, inputs, inputs}, scales.data()), Error);
}

}  // namespace
}  // namespace attune::kernels
