// Attention with relative positions, and the gradients of what they learn, against transformers:
// tests/golden/positions/relative_attention.json, written by tools/golden/positions.py.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/golden.h"
#include "attune/nn/position/position_cases.h"
#include "attune/ops/attention.h"

namespace attune {
namespace {

using conformance::expect_near;
using conformance::golden_tensor;

TEST(RelativePositions, AreTransformersForwardAndBackward) {
  const Json all = read_json(Path(ATTUNE_GOLDEN_DIR) / "positions/relative_attention.json");
  const Json& inputs = all["inputs"];
  std::set<std::string> names;
  for (const Json& one : all["cases"]) {
    const std::string name = one["name"].get<std::string>();
    const bool is_causal = one["causal"].get<bool>();
    SCOPED_TRACE(name + (is_causal ? ", causal" : ", bidirectional"));
    names.insert(name);
    const Tensor q = require_gradient(golden_tensor(inputs["q"])), k = require_gradient(golden_tensor(inputs["k"]));
    const Tensor v = require_gradient(golden_tensor(inputs["v"]));
    Json config = {{"method", name}};
    if (name == "shaw") config["clip"] = one["clip"];
    if (name == "t5") config.update({{"buckets", one["buckets"]}, {"max_distance", one["longest"]}});
    const GivenParameters given;
    const PositionUse use{.causal = is_causal, .sizes = {q.dim(1), q.dim(1), q.dim(2)}};
    const ScoreChanges scores = build_whole(config, use, given.w).scores(given.w / "block");
    const std::map<std::string, std::string> table_of = {{"shaw", "block.distance_embedding.weight"},
                                                         {"t5", "relative_attention_bias.weight"}};
    if (table_of.contains(name)) given.fill(table_of.at(name), golden_tensor(one["parameters"]["table"]));
    const AttentionSequences sequence = AttentionSequences::of(Offsets::from_lengths(std::vector{q.dim(0)}));
    const Tensor y = attention(q, k, v, sequence, (is_causal ? causal() : bidirectional()) + scores);
    expect_near(y, one["y"], 2e-6);
    backward(y, golden_tensor(inputs["dy"]));
    expect_near(gradient_of(q), one["gradients"]["q"], 1e-5);
    expect_near(gradient_of(k), one["gradients"]["k"], 1e-5);
    expect_near(gradient_of(v), one["gradients"]["v"], 1e-5);
    if (table_of.contains(name)) expect_near(given.gradient(table_of.at(name)), one["gradients"]["table"], 1e-5);
  }
  EXPECT_EQ(names, (std::set<std::string>{"alibi", "shaw", "t5"}));
}

TEST(RelativePositions, WhatDoesNotFitIsNamed) {
  const GivenParameters given;
  const PositionUse grouped{.causal = false, .sizes = {4, 2, 8}, .hidden_size = 32};
  EXPECT_THROW(build_whole({{"method", "t5"}, {"buckets", 2}}, grouped, given.w), Error);
  EXPECT_THROW(build_whole({{"method", "t5"}, {"max_distance", 3}}, grouped, given.w), Error);
  EXPECT_THROW(build_whole({{"method", "shaw"}, {"clip", -1}}, grouped, given.w), Error);
}

}  // namespace
}  // namespace attune
