// Against transformers' Qwen2-VL and Qwen2.5-Omni: tests/golden/positions/{grid_rotation,space_time}.json, written by
// tools/golden/positions.py.
#include "attune/nn/position/space_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/conformance/golden.h"
#include "attune/nn/position/rotary_grid.h"

namespace attune {
namespace {

using conformance::expect_near;
using Ids = std::vector<std::int64_t>;

Json golden(const std::string& name) { return read_json(Path(ATTUNE_GOLDEN_DIR) / "positions" / (name + ".json")); }

GridSize merged(const Json& grid) { return {grid[1].get<std::int64_t>() / 2, grid[2].get<std::int64_t>() / 2}; }

void expect_positions(const SpaceTimePositions& ours, const Json& theirs) {
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_EQ(ours.axes()[axis], theirs[axis].get<Ids>()) << axis;
}

TEST(SpaceTimePositions, AreQwen2Vls) {
  const Json cases = golden("space_time")["qwen2_vl"];
  ASSERT_EQ(cases.size(), 4u);
  for (const Json& one : cases) {
    SpaceTimePositions ours;
    for (const Json& part : one["parts"]) {
      const auto first = part[1].get<std::int64_t>();
      if (part[0] == "text") ours.text(first);
      if (part[0] == "image") ours.picture({part[2].get<std::int64_t>() / 2, part[3].get<std::int64_t>() / 2});
      if (part[0] == "video") ours.video(first, {part[2].get<std::int64_t>() / 2, part[3].get<std::int64_t>() / 2});
    }
    expect_positions(ours, one["positions"]);
  }
}

TEST(SpaceTimePositions, AreQwen25OmnisWithSoundToo) {
  const Json cases = golden("space_time")["omni"];
  ASSERT_EQ(cases.size(), 3u);
  SpaceTimePositions video, pieces, both;
  video.text(4);  // three of text, and what begins the video
  video.video(5, merged(cases[0]["grid"]), 25);
  video.text(3);
  expect_positions(video, cases[0]["positions"]);

  pieces.text(3);
  pieces.sound(9);
  pieces.text(3);
  pieces.picture(merged(cases[1]["grid"]));
  pieces.text(2);
  expect_positions(pieces, cases[1]["positions"]);

  both.text(2);
  both.together(2);
  both.video_with_sound(5, merged(cases[2]["grid"]), 25, 130, 50);
  both.together(2);
  both.text(2);
  expect_positions(both, cases[2]["positions"]);
}

TEST(SpaceTimePositions, SoundStandsBesideTheFramesOfItsTime) {
  SpaceTimePositions p;
  p.video_with_sound(3, {1, 1}, 100, 6, 4);  // frames further apart than a chunk, and than the sound is long
  EXPECT_EQ(p.time(), (Ids{0, 0, 1, 2, 3, 4, 5, 100, 200}));
  EXPECT_EQ(p.next(), 201);
  EXPECT_EQ(p.tokens(), 9);
}

TEST(SpaceTimePositions, WhatCannotBeIsNamed) {
  SpaceTimePositions p;
  EXPECT_THROW(p.text(-1), Error);
  EXPECT_THROW(p.video(2, {-1, 3}), Error);
  EXPECT_THROW(p.video_with_sound(2, {1, 3}, 25, 4, 0), Error);
  EXPECT_THROW(rotary_table({.rotary_dims = 16}, {2, 3, 2}, p), Error);
}

TEST(RotaryBySections, IsQwen2Vls) {
  const Json one = golden("space_time")["rotation"];
  SpaceTimePositions p;
  p.text(2);
  p.video(2, {1, 2}, 3);
  p.text(1);
  expect_positions(p, one["positions"]);
  const auto section = one["section"].get<std::array<std::int64_t, 3>>();
  const RotaryTable table = rotary_table({.rotary_dims = one["head_dim"].get<std::int64_t>()}, section, p);
  expect_near(table.cos, one["cos"], 1e-6);
  expect_near(table.sin, one["sin"], 1e-6);
}

TEST(RotaryBySections, OfTextIsPlainRotation) {
  SpaceTimePositions p;
  p.text(9);
  const RopeConfig rope = {.rotary_dims = 16};
  const RotaryTable sections = rotary_table(rope, {2, 3, 3}, p), plain = rotary_table(rope, p.time());
  EXPECT_TRUE(conformance::same_bits(sections.cos, plain.cos));
  EXPECT_TRUE(conformance::same_bits(sections.sin, plain.sin));
}

TEST(RotaryGrid, IsQwen2VlsVisionEncoders) {
  const Json cases = golden("grid_rotation")["cases"];
  ASSERT_EQ(cases.size(), 2u);
  for (const Json& one : cases) {
    auto size = [&](std::size_t i) { return one["grid"][i].get<std::int64_t>(); };
    const GridPlaces places = grid_places({size(1), size(2)}, one["merge"].get<std::int64_t>(), size(0));
    EXPECT_EQ(places.rows, one["rows"].get<Ids>());
    EXPECT_EQ(places.columns, one["columns"].get<Ids>());
    const RotaryTable table = rotary_table(places, one["head_dim"].get<std::int64_t>());
    expect_near(table.cos, one["cos"], 1e-6);
    expect_near(table.sin, one["sin"], 1e-6);
  }
}

// What makes it relative in two dimensions.
TEST(RotaryGrid, ScoresDependOnTheTwoDifferencesAlone) {
  const std::vector<float> values = {0.3f, -1.2f, 0.8f,  0.5f, 1.1f, -0.4f, 0.9f, 0.2f,
                                     0.7f, 0.1f,  -0.6f, 1.3f, 0.4f, -0.9f, 0.2f, 1.0f};
  auto score = [&](std::array<std::int64_t, 2> q, std::array<std::int64_t, 2> k) {
    const RotaryTable table = rotary_table(GridPlaces{{q[0], k[0]}, {q[1], k[1]}}, 8);
    const std::vector<float> turned = rotary(Tensor::from<float>({2, 1, 8}, values), table).to_vector<float>();
    double sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum += turned[i] * turned[8 + i];
    return sum;
  };
  EXPECT_NEAR(score({5, 2}, {3, 7}), score({25, 12}, {23, 17}), 1e-5);
  EXPECT_GT(std::abs(score({5, 2}, {3, 7}) - score({6, 2}, {3, 7})), 1e-3);
  EXPECT_GT(std::abs(score({5, 2}, {3, 7}) - score({5, 3}, {3, 7})), 1e-3);
  EXPECT_THROW(rotary_table(GridPlaces{{1}, {1}}, 6), Error);
  EXPECT_THROW(rotary_table(GridPlaces{{1}, {1, 2}}, 8), Error);
  EXPECT_THROW(grid_places({4, 6}, 4), Error);
}

}  // namespace
}  // namespace attune
