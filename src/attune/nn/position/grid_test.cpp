// Positions on a grid, and tables at other sizes, against PyTorch and transformers: tests/golden/positions/grids.json,
// written by tools/golden/positions.py.
#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/golden.h"
#include "attune/nn/position/learned_grid.h"
#include "attune/nn/position/sinusoidal.h"
#include "attune/nn/position/sinusoidal_grid.h"

namespace attune {
namespace {

using conformance::expect_near;
using conformance::golden_tensor;

const Json& golden() {
  static const Json all = read_json(Path(ATTUNE_GOLDEN_DIR) / "positions/grids.json");
  return all;
}

GridSize grid(const Json& json) { return {json[0].get<std::int64_t>(), json[1].get<std::int64_t>()}; }

TEST(ResizeGrid, IsPyTorchsInterpolateForwardAndBackward) {
  ASSERT_EQ(golden()["resized"].size(), 9u);
  for (const Json& one : golden()["resized"]) {
    SCOPED_TRACE(to_text(one).substr(0, 70));
    const Resizing how = {one["mode"] == "bicubic" ? Resizing::Filter::cubic : Resizing::Filter::linear,
                          one["antialias"].get<bool>()};
    const Tensor x = require_gradient(golden_tensor(one["x"]));
    const Tensor y = resize_grid(x, grid(one["from"]), grid(one["to"]), how);
    expect_near(y, one["y"], 5e-6);
    backward(y, golden_tensor(one["dy"]));
    expect_near(gradient_of(x), one["dx"], 5e-6);
  }
}

TEST(ResizeRows, IsPyTorchsLinearInterpolation) {
  for (const Json& one : golden()["lines"]) {
    const Tensor y = golden_tensor(one["y"]);
    expect_near(resize_rows(golden_tensor(one["x"]), y.dim(0)), one["y"], 1e-6);
  }
}

TEST(ResizeRows, KeepsALineALine) {
  // Away from the ends, equal steps stay equal steps. (Of the cubic kernels only that with a = -0.5 does so: Keys
  // 1981.)
  std::vector<float> line;
  for (int i = 0; i < 12; ++i) line.push_back(static_cast<float>(3 * i));
  for (const Resizing how : {Resizing{Resizing::Filter::linear}, Resizing{Resizing::Filter::cubic, true}}) {
    const std::vector<float> y = resize_rows(Tensor::from<float>({12, 1}, line), 24, how).to_vector<float>();
    for (std::size_t i = 4; i < 20; ++i) EXPECT_NEAR(y[i + 1] - y[i], 1.5, 1e-5) << i;
  }
}

TEST(ResizeGrid, WhatDoesNotFitIsNamed) {
  const Tensor x = Tensor::zeros({12, 2});
  EXPECT_THROW(resize_grid(x, {3, 5}, {4, 4}), Error);
  EXPECT_THROW(resize_grid(x, {3, 4}, {0, 4}), Error);
  EXPECT_THROW(resize_rows(Tensor::zeros({3}), 4), Error);
}

TEST(SinusoidalGrid, IsTransformersAndItsSwappedOrderIsMaes) {
  for (const Json& one : golden()["sinusoidal"]) {
    const GridSize size{one["height"].get<std::int64_t>(), one["width"].get<std::int64_t>()};
    const std::int64_t width = golden_tensor(one["values"]).dim(1), half = width / 2;
    const Tensor rows_first = sinusoidal_grid(size, width);
    expect_near(rows_first, one["values"], 1e-6);
    const Tensor swapped = sinusoidal_grid(size, width, GridOrder::columns_first);
    EXPECT_EQ(swapped.slice(1, 0, half).to_vector<float>(), rows_first.slice(1, half, width).to_vector<float>());
    EXPECT_EQ(swapped.slice(1, half, width).to_vector<float>(), rows_first.slice(1, 0, half).to_vector<float>());
  }
  EXPECT_THROW(sinusoidal_grid({3, 3}, 6), Error);
}

TEST(Sinusoidal, BothLayoutsAreTransformers) {
  expect_near(sinusoidal_table(40, 10, SinusoidalLayout::interleaved), golden()["interleaved"], 1e-6);
  expect_near(sinusoidal_table(40, 10, SinusoidalLayout::halves), golden()["halves"], 1e-6);
}

// Vaswani et al. 2017, section 3.5: a fixed offset is a linear function of the encoding, the same at every position.
TEST(Sinusoidal, AShiftIsARotationOfEachFrequencysPair) {
  const std::int64_t width = 12, shift = 9;
  const Tensor table = sinusoidal_table(200, width, SinusoidalLayout::interleaved);
  const float* at = table.data<float>();
  for (std::int64_t p : {0, 3, 77, 190}) {
    for (std::int64_t i = 0; i < width; i += 2) {
      const double angle = static_cast<double>(shift) * std::pow(10000.0, -static_cast<double>(i) / width);
      const double sin = at[p * width + i], cos = at[p * width + i + 1];
      EXPECT_NEAR(at[(p + shift) * width + i], sin * std::cos(angle) + cos * std::sin(angle), 1e-6);
      EXPECT_NEAR(at[(p + shift) * width + i + 1], cos * std::cos(angle) - sin * std::sin(angle), 1e-6);
    }
  }
}

TEST(LearnedGrid, OwnSizeIsTheTableAndOthersKeepThePrefix) {
  ParameterSet set({}, {});
  const LearnedGrid positions(Weights(set), "position_embeddings", {4, 4}, 1, 3);
  EXPECT_EQ(set.find("position_embeddings")->value.shape().text(), "[1, 17, 3]");
  const std::vector<float> own = positions({4, 4}).to_vector<float>();
  EXPECT_EQ(own, set.find("position_embeddings")->value.to_vector<float>());
  const Tensor larger = positions({5, 7});
  EXPECT_EQ(larger.shape().text(), "[36, 3]");
  EXPECT_EQ(larger.rows(0, 1).to_vector<float>(), (std::vector<float>{own[0], own[1], own[2]}));
  const Tensor table = Tensor::from<float>({16, 3}, std::vector<float>(own.begin() + 3, own.end()));
  EXPECT_EQ(larger.rows(1, 36).to_vector<float>(), resize_grid(table, {4, 4}, {5, 7}).to_vector<float>());
  EXPECT_THROW(LearnedGrid(Weights(set), "other", {0, 4}, 1, 3), Error);
}

}  // namespace
}  // namespace attune
