// Frequencies against transformers: tests/golden/positions/{rope,turned}.json, written by tools/golden/positions.py.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/conformance/golden.h"
#include "attune/nn/position/rotary.h"

namespace attune {
namespace {

Json cases(const std::string& name) {
  return read_json(Path(ATTUNE_GOLDEN_DIR) / "positions" / (name + ".json"))["cases"];
}

RopeConfig read(const std::string& text, std::int64_t head_dim = 8) {
  const ConfigReader config(parse_json(text, "config.json"), "config.json");
  RopeConfig rope = read_rope(config, head_dim);
  config.ignore({"max_position_embeddings"});
  config.finish();
  return rope;
}

TEST(ReadRope, EverySpellingGivesTransformersFrequencies) {
  std::set<RopeScaling::Kind> kinds;
  const Json all = cases("rope");
  for (const Json& one : all) {
    const std::string name = one["name"].get<std::string>();
    const RopeConfig rope = read(to_text(one["config"]), one["head_dim"].get<std::int64_t>());
    kinds.insert(rope.scaling.kind);
    for (const Json& found : one["found"]) {
      const auto length = found["length"].get<std::int64_t>();
      const auto expected = found["frequencies"].get<std::vector<double>>();
      const std::vector<float> ours = inverse_frequencies(rope, length);
      ASSERT_EQ(ours.size(), expected.size()) << name;
      // transformers computes in f32: some roundings of 6e-8 each.
      for (std::size_t i = 0; i < ours.size(); ++i)
        EXPECT_NEAR(ours[i] / expected[i], 1, 2e-6) << name << ", " << length << " tokens, frequency " << i;
      EXPECT_NEAR(rope.scaling.magnitude, found["attention_factor"].get<double>(), 1e-12) << name;
    }
  }
  EXPECT_EQ(kinds.size(), 6u);  // all there are
}

TEST(ReadRope, SuIsLongropesFirstName) {
  const std::string factors =
      R"("short_factor": [1, 2, 3, 4], "long_factor": [5, 6, 7, 8], "original_max_position_embeddings": 4)";
  const RopeConfig su = read(R"({"rope_scaling": {"type": "su", )" + factors + "}}");
  const RopeConfig longrope = read(R"({"rope_parameters": {"rope_type": "longrope", )" + factors + "}}");
  for (std::int64_t length : {4, 5}) EXPECT_EQ(inverse_frequencies(su, length), inverse_frequencies(longrope, length));
  EXPECT_FLOAT_EQ(inverse_frequencies(su, 5)[0], 1.0f / 5);
}

TEST(ReadRope, WhatIsWrongIsNamed) {
  const std::string linear = R"({"rope_parameters": {"rope_type": "linear", "factor": 0.5}})";
  EXPECT_THROW(read(linear), Error);
  EXPECT_THROW(read(R"({"rope_scaling": {"type": "linear"}})"), Error);
  EXPECT_THROW(read(R"({"rope_scaling": {"type": "spiral", "factor": 2}})"), Error);
  EXPECT_THROW(read(R"({"rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 3}})"), Error);
  EXPECT_THROW(read(R"({"rope_parameters": {"rope_type": "yarn", "factor": 2, "beta_fast": 1, "beta_slow": 2}})"),
               Error);
  EXPECT_THROW(read(R"({"partial_rotary_factor": 1.5})"), Error);
  const std::string few =
      R"({"rope_parameters": {"rope_type": "longrope", "short_factor": [1, 2], "long_factor": [1]}})";
  EXPECT_THROW(inverse_frequencies(read(few)), Error);
}

TEST(RotaryTable, TurnsAsTransformersDoes) {
  const Json all = cases("turned");
  ASSERT_EQ(all.size(), 4u);
  for (const Json& one : all) {
    const RopeConfig rope = {
        .rotary_dims = one["dims"].get<std::int64_t>(),
        .pairing = one["pairing"] == "interleaved" ? RotaryPairing::interleaved : RotaryPairing::half_split};
    SCOPED_TRACE(to_text(one["pairing"]));
    const Tensor x = conformance::golden_tensor(one["x"]);
    const auto positions = one["positions"].get<std::vector<std::int64_t>>();
    conformance::expect_near(rotary(x, rotary_table(rope, positions)), one["y"], 2e-6);
  }
}

RopeConfig dynamic() {
  return {.rotary_dims = 8, .scaling = {.kind = RopeScaling::Kind::dynamic, .factor = 2, .original_positions = 4}};
}

TEST(RotaryTable, ScalingByLengthIsEachRequestsOwn) {
  const Batch both = Batch::of({{1, 2, 3}, {1, 2, 3, 4, 5, 6}}), alone = Batch::of({{1, 2, 3}});
  const std::vector<float> together = rotary_table(dynamic(), both).sin.to_vector<float>();
  const std::vector<float> own = rotary_table(dynamic(), alone).sin.to_vector<float>();
  EXPECT_TRUE(std::equal(own.begin(), own.end(), together.begin()));
  // The same three tokens, in a request that comes to more than was trained with, turn more slowly.
  EXPECT_LT(together[(3 + 2) * 4 + 3], own[2 * 4 + 3]);
}

TEST(RotaryTable, ScalingByLengthIsFixedWhenARequestStarts) {
  Batch start = Batch::of({{1, 2, 3, 4, 5, 6}});
  const std::vector<float> whole = rotary_table(dynamic(), start).cos.to_vector<float>();
  Batch step = Batch::of({{6}});
  step.positions = Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{5});
  step.planned_lengths = {6};
  const std::vector<float> last = rotary_table(dynamic(), step).cos.to_vector<float>();
  EXPECT_TRUE(std::equal(last.begin(), last.end(), whole.begin() + 5 * 4));
  step.planned_lengths = {6, 6};
  EXPECT_THROW(rotary_table(dynamic(), step), Error);
}

TEST(RopeScaling, DynamicLeavesShortRequestsAlone) {
  const RopeConfig plain = {.rotary_dims = 8};
  EXPECT_EQ(inverse_frequencies(dynamic(), 4), inverse_frequencies(plain));
  EXPECT_NE(inverse_frequencies(dynamic(), 5), inverse_frequencies(plain));
}

// YaRN, section 3.2: what turns often within the original length is left, what turns less than once is divided.
TEST(RopeScaling, YarnLeavesFastFrequenciesAndDividesSlowOnes) {
  const RopeConfig plain = {.rotary_dims = 64};
  const RopeConfig yarn = {.rotary_dims = 64,
                           .scaling = {.kind = RopeScaling::Kind::yarn, .factor = 4, .original_positions = 512}};
  const std::vector<float> before = inverse_frequencies(plain), after = inverse_frequencies(yarn);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double turns = before[i] * 512 / 6.2832;
    EXPECT_TRUE(turns < 40 || after[i] == before[i]) << i;
    EXPECT_TRUE(turns > 0.8 || after[i] == before[i] / 4) << i;
    EXPECT_LE(after[i], before[i]);
    EXPECT_GE(after[i], before[i] / 4 * 0.9999f);
  }
}

TEST(RopeScaling, MagnitudeIsOnCosinesAndSines) {
  RopeConfig rope = {.rotary_dims = 4};
  const std::vector<std::int64_t> positions = {3};
  const std::vector<float> plain = rotary_table(rope, positions).cos.to_vector<float>();
  rope.scaling.magnitude = 1.5;
  EXPECT_FLOAT_EQ(rotary_table(rope, positions).cos.to_vector<float>()[1], plain[1] * 1.5f);
  EXPECT_DOUBLE_EQ(yarn_magnitude(1), 1);
  EXPECT_DOUBLE_EQ(yarn_magnitude(std::exp(1.0)), 1.1);
  EXPECT_DOUBLE_EQ(longrope_magnitude(0.5, 100), 1);
  EXPECT_DOUBLE_EQ(longrope_magnitude(100, 100), std::sqrt(2.0));
}

}  // namespace
}  // namespace attune
