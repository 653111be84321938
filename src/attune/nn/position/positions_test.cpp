#include "attune/nn/position/positions.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/nn/position/learned.h"
#include "attune/nn/position/resize.h"
#include "attune/nn/position/rotary.h"
#include "attune/nn/position/sinusoidal_positions.h"
#include "attune/ops/attention_scores.h"

namespace attune {
namespace {

/// A method built from {"method": ..., ...}, and the weights that it declared.
struct Built {
  std::shared_ptr<ParameterSet> set;
  PositionParts parts;

  explicit Built(const std::string& text, PositionUse use = standard(), DType type = DType::F32)
      : set(std::make_shared<ParameterSet>(WeightSource{.checkpoint = {}, .initial = {.seed = 3}, .type = type},
                                           NameRules{})) {
    const ConfigReader config(parse_json(text, "positions"), "positions");
    parts = build_positions(config, use, Weights(*set) / "positions");
    config.finish();
  }
  static PositionUse unbounded() {
    PositionUse use = standard();
    use.longest = 0;
    return use;
  }
  static PositionUse standard() { return {.causal = true, .sizes = {4, 4, 8}, .hidden_size = 32, .longest = 20}; }
};

const Batch& batch() {
  static const Batch two = Batch::of({{1, 2, 3}, {4, 5, 6, 7}});
  return two;
}

TEST(BuildPositions, EveryMethodGivesOnePart) {
  std::vector<std::string> names;
  for (const PositionEntry& entry : position_methods()) {
    const Built built(R"({"method": ")" + entry.name + "\"}");
    const int parts =
        (built.parts.added != nullptr) + (built.parts.rotary != nullptr) + (built.parts.scores != nullptr);
    EXPECT_EQ(parts, entry.name == "none" ? 0 : 1) << entry.name;
    EXPECT_FALSE(entry.paper.empty());
    names.push_back(entry.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"alibi", "deberta", "learned", "none", "rotary", "shaw", "sinusoidal", "t5"}));
}

TEST(BuildPositions, EveryMethodIsInTheDocumentation) {
  const std::string page = read_file(Path(ATTUNE_GOLDEN_DIR) / "../../docs/positions.md");
  for (const PositionEntry& entry : position_methods())
    EXPECT_NE(page.find("\n| `" + entry.name + "` | "), std::string::npos) << entry.name;
}

TEST(BuildPositions, AddedVectorsAreThoseOfTheClasses) {
  const Tensor sinusoidal = Built(R"({"method": "sinusoidal", "layout": "halves"})").parts.added(batch());
  EXPECT_EQ(sinusoidal.to_vector<float>(),
            SinusoidalPositions(9, 32, SinusoidalLayout::halves)(batch()).to_vector<float>());
  const Built learned(R"({"method": "learned"})");
  const Tensor table = learned.set->find("positions.weight")->value;
  EXPECT_EQ(table.shape().text(), "[20, 32]");
  EXPECT_EQ(learned.parts.added(batch()).rows(3, 7).to_vector<float>(), table.rows(0, 4).to_vector<float>());
  const Tensor f64 = Built(R"({"method": "sinusoidal"})", Built::standard(), DType::F64).parts.added(batch());
  EXPECT_EQ(f64.dtype(), DType::F64);
}

TEST(BuildPositions, StretchedTableIsReadBetweenItsRows) {
  const Built learned(R"({"method": "learned", "length": 2, "stretched_to": 4})", Built::unbounded());
  const std::vector<float> added = learned.parts.added(batch()).to_vector<float>();
  const Tensor table = learned.set->find("positions.weight")->value;
  EXPECT_EQ(table.dim(0), 2);
  // Places 1/4 and 3/4 between the two rows; before the first and behind the last the row itself.
  const std::vector<float> t = table.to_vector<float>();
  for (std::size_t c = 0; c < 32; ++c) {
    EXPECT_FLOAT_EQ(added[3 * 32 + c], t[c]);
    EXPECT_NEAR(added[4 * 32 + c], 0.75f * t[c] + 0.25f * t[32 + c], 1e-7);
    EXPECT_NEAR(added[5 * 32 + c], 0.25f * t[c] + 0.75f * t[32 + c], 1e-7);
    EXPECT_FLOAT_EQ(added[6 * 32 + c], t[32 + c]);
  }
}

TEST(BuildPositions, StretchedRowsHaveTheSameBitsAloneAndTogether) {
  const Built learned(R"({"method": "learned", "length": 5, "stretched_to": 7})", Built::unbounded());
  const Tensor many = learned.parts.added(Batch::of({{1, 1, 1, 1, 1, 1, 1}, {2, 2}}));  // more tokens than places
  const Tensor few = learned.parts.added(Batch::of({{1, 1, 1, 1, 1, 1}}));
  EXPECT_EQ(few.to_vector<float>(), many.rows(0, 6).to_vector<float>());
  EXPECT_EQ(few.to_vector<float>(),
            resize_rows(learned.set->find("positions.weight")->value, 7).rows(0, 6).to_vector<float>());
}

TEST(BuildPositions, SinusoidalRowsBeyondTheTableAreThoseOfALargerTable) {
  const SinusoidalPositions small(2, 6, SinusoidalLayout::interleaved), large(9, 6, SinusoidalLayout::interleaved);
  EXPECT_EQ(small(batch()).to_vector<float>(), large(batch()).to_vector<float>());
}

TEST(BuildPositions, RotaryReadsEverySpelling) {
  const Built built(R"({"method": "rotary", "rope_theta": 500, "pairing": "interleaved", "partial_rotary_factor": 0.5,
                        "rope_scaling": {"type": "dynamic", "factor": 2}})");
  const RotaryTable table = built.parts.rotary(batch());
  EXPECT_EQ(table.pairing, RotaryPairing::interleaved);
  const RopeConfig rope = {
      .theta = 500,
      .rotary_dims = 4,
      .scaling = {.kind = RopeScaling::Kind::dynamic, .factor = 2, .original_positions = 20}};  // use.longest
  EXPECT_EQ(table.sin.to_vector<float>(), rotary_table(rope, batch()).sin.to_vector<float>());
}

TEST(BuildPositions, WhatIsWrongIsNamed) {
  auto error = [](const std::string& text, PositionUse use = Built::standard()) -> std::string {
    try {
      Built built(text, use);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_NE(error(R"({"method": "spiral"})").find("learned, none, rotary"), std::string::npos);
  EXPECT_NE(error(R"({"method": "rotary", "buckets": 3})").find("buckets"), std::string::npos);
  EXPECT_NE(error(R"({"method": "learned", "stretched_to": 19})").find("stretched_to"), std::string::npos);
  EXPECT_NE(error(R"({"method": "learned"})", Built::unbounded()).find("max_position_embeddings"), std::string::npos);
  PositionUse odd = Built::standard();
  odd.sizes.head_dim = 7;
  EXPECT_NE(error(R"({"method": "rotary"})", odd).find("even"), std::string::npos);
  EXPECT_NE(error(R"({"method": "rotary"})", odd).find("num_attention_heads"), std::string::npos);
  const Built learned(R"({"method": "learned", "length": 3})", Built::unbounded());
  EXPECT_THROW(learned.parts.added(batch()), Error);
}

}  // namespace
}  // namespace attune
