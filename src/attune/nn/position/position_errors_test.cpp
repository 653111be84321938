// Values of a config's "positions" that do not fit: each is an Error that names the keys to change.
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/attention_scores.h"

namespace attune {
namespace {

PositionUse use_of(std::int64_t longest, bool causal = true) {
  return {.causal = causal, .sizes = {4, 4, 8}, .hidden_size = 32, .longest = longest};
}

PositionParts built(const std::string& text, const PositionUse& use) {
  ParameterSet set(WeightSource{.checkpoint = {}, .initial = {.seed = 3}}, NameRules{});
  const ConfigReader config(parse_json(text, "positions"), "positions");
  PositionParts parts = build_positions(config, use, Weights(set) / "positions");
  if (parts.scores) parts.scores(Weights(set) / "block");
  config.finish();
  return parts;
}

/// What the error says; "" where there is none.
std::string error_of(const std::string& text, const PositionUse& use) {
  try {
    built(text, use);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void expect_named(const std::string& text, const PositionUse& use, const std::vector<std::string>& names) {
  const std::string error = error_of(text, use);
  for (const std::string& name : names)
    EXPECT_NE(error.find(name), std::string::npos) << text << " says \"" << error << "\", without " << name;
}

/// What is logged while it lives.
struct Logged {
  std::string text;
  Logged() {
    set_log_sink([this](LogLevel, const std::string& message) { text += message + "\n"; });
  }
  ~Logged() { set_log_sink({}); }
};

std::string rotary(const std::string& parameters) {
  return R"({"method": "rotary", "rope_parameters": {)" + parameters + "}}";
}

TEST(PositionErrors, ScalingWithoutTheLengthThatItBeginsAt) {
  const std::string factors = R"("short_factor": [1, 1, 1, 1], "long_factor": [2, 2, 2, 2])";
  for (const std::string& scaling :
       {std::string(R"("rope_type": "dynamic", "factor": 2)"), std::string(R"("rope_type": "yarn", "factor": 2)"),
        std::string(R"("rope_type": "llama3", "factor": 2, "low_freq_factor": 1, "high_freq_factor": 4)"),
        R"("rope_type": "longrope", "factor": 2, )" + factors}) {
    expect_named(rotary(scaling), use_of(0), {"original_max_position_embeddings", "max_position_embeddings"});
    EXPECT_EQ(error_of(rotary(scaling), use_of(64)), "");
    EXPECT_EQ(error_of(rotary(scaling + R"(, "original_max_position_embeddings": 16)"), use_of(0)), "");
  }
  // With one length alone nothing says by how much it grows.
  const std::string original = R"(, "original_max_position_embeddings": 16)";
  expect_named(rotary(R"("rope_type": "yarn")" + original), use_of(0), {"factor", "max_position_embeddings"});
  expect_named(rotary(R"("rope_type": "longrope", )" + factors + original), use_of(0), {"factor"});
  EXPECT_EQ(error_of(rotary(R"("rope_type": "yarn")" + original), use_of(64)), "");
  expect_named(rotary(R"("rope_type": "yarn")"), use_of(64), {"factor", "original_max_position_embeddings"});
}

TEST(PositionErrors, ScalingByLengthThatNoSequenceReachesIsWarnedOf) {
  Logged logged;
  const std::string dynamic = R"("rope_type": "dynamic", "factor": 2)";
  built(rotary(dynamic + R"(, "original_max_position_embeddings": 16)"), use_of(64));
  EXPECT_EQ(logged.text, "");
  built(rotary(dynamic), use_of(64));
  EXPECT_NE(logged.text.find("original_max_position_embeddings"), std::string::npos) << logged.text;
}

TEST(PositionErrors, DynamicScalingBeginsAtItsOriginalLength) {
  const Batch batch = Batch::of({{1, 2, 3, 4, 5, 6}});
  auto sines = [&](int original) {
    const std::string text = R"("rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": )";
    return built(rotary(text + std::to_string(original)), use_of(64)).rotary(batch).sin.to_vector<float>();
  };
  const auto plain = built(R"({"method": "rotary"})", use_of(64)).rotary(batch).sin.to_vector<float>();
  EXPECT_EQ(sines(6), plain);
  EXPECT_NE(sines(5), plain);
}

TEST(PositionErrors, TwoKeysThatContradictEachOther) {
  const auto twice = [](const std::string& outer, const std::string& inner) {
    return R"({"method": "rotary", )" + outer + R"(, "rope_parameters": {)" + inner + "}}";
  };
  expect_named(twice(R"("rope_theta": 100)", R"("rope_theta": 50)"), use_of(64),
               {"rope_parameters.rope_theta", "\"rope_theta\" outside is 100"});
  EXPECT_EQ(error_of(twice(R"("rope_theta": 50)", R"("rope_theta": 50)"), use_of(64)), "");
  expect_named(twice(R"("partial_rotary_factor": 0.5)", R"("partial_rotary_factor": 1)"), use_of(64),
               {"rope_parameters.partial_rotary_factor", "outside is 0.5"});
  expect_named(twice(R"("original_max_position_embeddings": 8)",
                     R"("rope_type": "yarn", "factor": 2, "original_max_position_embeddings": 16)"),
               use_of(64), {"rope_parameters.original_max_position_embeddings", "outside is 8"});
  expect_named(twice(R"("rope_scaling": {"type": "linear", "factor": 2})", R"("rope_type": "linear", "factor": 3)"),
               use_of(64), {"rope_scaling", "rope_parameters"});
  expect_named(rotary(R"("type": "linear", "rope_type": "dynamic", "factor": 2)"), use_of(64), {"type", "rope_type"});
  EXPECT_EQ(error_of(rotary(R"("type": "linear", "rope_type": "linear", "factor": 2)"), use_of(64)), "");
  expect_named(rotary(R"("rope_type": "yarn", "factor": 2, "attention_factor": 1, "mscale": 0.5)"), use_of(64),
               {"attention_factor", "mscale"});
  expect_named(R"({"method": "rotary", "max_position_embeddings": 8})", use_of(64),
               {"max_position_embeddings", "original_max_position_embeddings"});
  expect_named(R"({"method": "learned", "length": 64})", use_of(128),
               {"length", "64", "max_position_embeddings", "128"});
  EXPECT_EQ(error_of(R"({"method": "learned", "length": 128})", use_of(128)), "");
  expect_named(R"({"method": "learned", "stretched_to": 256})", use_of(128),
               {"stretched_to", "max_position_embeddings = 256 and length = 128"});
  EXPECT_EQ(error_of(R"({"method": "learned", "length": 128, "stretched_to": 256})", use_of(256)), "");
  expect_named(R"({"method": "deberta", "kinds": ["c2p", "c2p"]})", use_of(64, false), {"kinds", "c2p", "twice"});
}

TEST(PositionErrors, ValuesThatDoNotFitNameTheirKeys) {
  expect_named(R"({"method": "rotary", "partial_rotary_factor": 0.4})", use_of(64),
               {"head_dim 8", "num_attention_heads", "partial_rotary_factor 0.4"});
  expect_named(R"({"method": "t5", "buckets": 1})", use_of(64), {"\"buckets\"", "at least 2"});
  expect_named(R"({"method": "t5", "buckets": 3})", use_of(64, false), {"\"buckets\"", "at least 4"});
  expect_named(R"({"method": "t5", "max_distance": 16})", use_of(64), {"\"max_distance\"", "\"buckets\""});
  expect_named(R"({"method": "t5", "buckets": 1024})", use_of(64), {"\"max_distance\"", "1024 buckets"});
  EXPECT_EQ(error_of(R"({"method": "t5", "max_distance": 17})", use_of(64)), "");
  EXPECT_EQ(error_of(R"({"method": "t5", "max_distance": 9})", use_of(64, false)), "");
  expect_named(R"({"method": "deberta", "buckets": 1})", use_of(64, false), {"\"buckets\"", "at least 2"});
  expect_named(R"({"method": "deberta", "buckets": 8, "max_distance": 5})", use_of(64, false),
               {"\"max_distance\"", "\"buckets\"", "at least 6"});
  EXPECT_EQ(error_of(R"({"method": "deberta", "buckets": 8, "max_distance": 6})", use_of(64, false)), "");
  const std::string longrope = R"("rope_type": "longrope", "factor": 2, )";
  expect_named(rotary(longrope + R"("short_factor": [1], "long_factor": [2, 2, 2, 2])"), use_of(64),
               {"rope_parameters.short_factor", "expected 4"});
  expect_named(rotary(longrope + R"("short_factor": [1, 1, 1, 1], "long_factor": [2, 2, -2, 2])"), use_of(64),
               {"rope_parameters.long_factor", "above 0"});
  const std::string llama3 = R"("rope_type": "llama3", "factor": 2, )";
  expect_named(rotary(llama3 + R"("low_freq_factor": 4, "high_freq_factor": 1)"), use_of(64),
               {"rope_parameters.high_freq_factor", "low_freq_factor, which is 4"});
  expect_named(rotary(llama3 + R"("low_freq_factor": 0, "high_freq_factor": 1)"), use_of(64), {"low_freq_factor"});
  expect_named(rotary(R"("rope_type": "yarn", "factor": 2, "beta_fast": 1, "beta_slow": 2)"), use_of(64),
               {"rope_parameters.beta_slow", "beta_fast, which is 1"});
  expect_named(rotary(R"("rope_type": "yarn", "factor": 2, "rope_theta": 0.5)"), use_of(64), {"rope_theta"});
  expect_named(rotary(R"("rope_type": "dynamic", "factor": 2, "partial_rotary_factor": 0.25)"), use_of(64),
               {"rope_parameters.rope_type", "head_dim"});
}

TEST(PositionErrors, SizesBeyondAnySenseNameTheirRange) {
  expect_named(R"({"method": "learned", "length": 1000000000000})", use_of(0), {"\"length\"", "at most 1048576"});
  expect_named(R"({"method": "learned"})", use_of(1 << 30), {"max_position_embeddings", "at most 1048576"});
  expect_named(R"({"method": "shaw", "clip": 1000000000000})", use_of(0), {"\"clip\"", "at most 1048576"});
  expect_named(R"({"method": "t5", "buckets": 1000000000000})", use_of(0), {"\"buckets\"", "at most"});
  expect_named(R"({"method": "deberta", "buckets": 1000000000000})", use_of(0), {"\"buckets\"", "at most"});
}

TEST(PositionErrors, ATextInPlaceOfTheScalingsTable) {
  expect_named(R"({"method": "rotary", "rope_parameters": "yarn"})", use_of(64), {R"({rope_type = "yarn"})"});
  expect_named(R"({"method": "rotary", "rope_scaling": "linear"})", use_of(64), {R"({rope_type = "linear"})"});
}

TEST(PositionErrors, DebertasPositionToContentIsNotDecodedAndSaysSo) {
  Logged logged;
  built(R"({"method": "deberta"})", use_of(64, false));
  built(R"({"method": "deberta", "kinds": ["c2p"]})", use_of(64));
  EXPECT_EQ(logged.text, "");
  const std::string message = R"(kinds = ["c2p"])";
  ParameterSet set(WeightSource{.checkpoint = {}, .initial = {.seed = 3}}, NameRules{});
  const ConfigReader config(parse_json(R"({"method": "deberta"})", "positions"), "positions");
  const ScoreChanges scores = build_positions(config, use_of(64), Weights(set)).scores(Weights(set) / "block");
  EXPECT_NE(logged.text.find(message), std::string::npos) << logged.text;
  const ScoreSetting cached{.q = Tensor::full({1, 4, 8}, 0.5), .k = {}, .scale = 1, .smallest = -2, .largest = 0};
  try {
    for (const auto& addition : scores.additions) addition(cached);
    FAIL() << "a cache has no keys for it";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("p2c"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace attune
