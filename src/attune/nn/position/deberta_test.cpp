// Disentangled attention and all its gradients, against DeBERTa v2 of transformers:
// tests/golden/positions/deberta.json, written by tools/golden/positions.py.
#include "attune/nn/position/deberta.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/golden.h"
#include "attune/nn/position/position_cases.h"
#include "attune/ops/attention.h"
#include "attune/ops/view.h"

namespace attune {
namespace {

using conformance::expect_near;
using conformance::golden_tensor;

/// One case of DeBERTa's self-attention, without its output layer.
struct Disentangled {
  GivenParameters given;
  std::int64_t tokens, hidden, heads;
  Linear query, key, value;
  AttentionRule rule;

  explicit Disentangled(const Json& one)
      : tokens(one["x"]["shape"][0].get<std::int64_t>()),
        hidden(one["x"]["shape"][1].get<std::int64_t>()),
        heads(one["heads"].get<std::int64_t>()),
        query(given.w / "query_proj", hidden, hidden),
        key(given.w / "key_proj", hidden, hidden),
        value(given.w / "value_proj", hidden, hidden) {
    const Json& config = one["config"];
    if (config["share_projections"].get<bool>()) {
      const Tensor table = (given.w / "rel_embeddings").parameter("weight", {12, hidden}, Initial::zeros());
      const DisentangledPositions positions{
          .table = [table] { return table; },
          .key = key,
          .query = query,
          .heads = heads,
          .buckets = {config["buckets"].get<std::int64_t>(), config["buckets"].get<std::int64_t>(),
                      config["longest"].get<std::int64_t>()}};
      rule = {.scores = disentangled_scores(positions), .scale = deberta_scale(hidden / heads, positions.parts())};
    } else {
      const Json named = {{"method", "deberta"},
                          {"kinds", config["kinds"]},
                          {"buckets", config["buckets"]},
                          {"max_distance", config["longest"]}};
      const PositionUse use{.causal = false, .sizes = {heads, heads, hidden / heads}, .hidden_size = hidden};
      const PositionParts parts = build_whole(named, use, given.w);
      rule = {.scores = parts.scores(given.w), .scale = parts.scale};
    }
    for (const auto& [name, values] : one["parameters"].items()) given.fill(ours(name), golden_tensor(values));
  }
  static std::string ours(const std::string& name) { return name == "rel_embeddings" ? "rel_embeddings.weight" : name; }
  Tensor run(const Tensor& x) const {
    auto split = [&](const Linear& by) { return reshape(by(x), {tokens, heads, hidden / heads}); };
    const AttentionSequences sequence = AttentionSequences::of(Offsets::from_lengths(std::vector{tokens}));
    return reshape(attention(split(query), split(key), split(value), sequence, rule), {tokens, hidden});
  }
};

TEST(DisentangledPositions, AreDebertaV2sForwardAndBackward) {
  const Json all = read_json(Path(ATTUNE_GOLDEN_DIR) / "positions/deberta.json");
  ASSERT_EQ(all["cases"].size(), 4u);
  for (const Json& one : all["cases"]) {
    SCOPED_TRACE(to_text(one["config"]));
    const Disentangled layer(one);
    const Tensor y = layer.run(golden_tensor(one["x"]));
    expect_near(y, one["y"], 5e-6);
    backward(y, golden_tensor(one["dy"]));
    for (const auto& [name, values] : one["gradients"].items()) {
      SCOPED_TRACE(name);
      expect_near(layer.given.gradient(Disentangled::ours(name)), values, 5e-5);
    }
  }
}

TEST(DisentangledPositions, NormalisedTableIsAnotherTable) {
  const GivenParameters given;
  const Json config = {{"method", "deberta"}, {"buckets", 4}, {"max_distance", 9}, {"norm", "layer_norm"}};
  const PositionUse use{.causal = false, .sizes = {2, 2, 4}, .hidden_size = 8, .deviation = 1};
  const ScoreChanges scores = build_whole(config, use, given.w).scores(given.w / "block");
  const Tensor q = Tensor::full({3, 2, 4}, 0.5);
  const ScoreSetting setting{.q = q, .k = q, .scale = 1, .smallest = -2, .largest = 2};
  const std::vector<float> before = scores.additions[0](setting).table.to_vector<float>();
  const Tensor table = given.set.find("rel_embeddings.weight")->value;
  for (float& value : table.mutable_values<float>()) value = 3 * value + 1;  // what a norm takes away
  table.mark_changed();
  const std::vector<float> after = scores.additions[0](setting).table.to_vector<float>();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-4);
}

TEST(DisentangledPositions, WhatDoesNotFitIsNamed) {
  const GivenParameters given;
  const PositionUse grouped{.causal = false, .sizes = {4, 2, 8}, .hidden_size = 32};
  EXPECT_THROW(build_whole({{"method", "deberta"}}, grouped, given.w), Error);
  EXPECT_THROW(build_whole({{"method", "deberta"}, {"kinds", {"c2c"}}}, grouped, given.w), Error);
  EXPECT_THROW(build_whole({{"method", "deberta"}, {"buckets", 1100}, {"kinds", {"c2p"}}}, grouped, given.w), Error);
  EXPECT_THROW(disentangled_scores({}), Error);
}

}  // namespace
}  // namespace attune
