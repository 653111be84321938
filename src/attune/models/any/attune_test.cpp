#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/objective.h"
#include "attune/nn/position/positions.h"

namespace attune {
namespace {

std::unique_ptr<Model> fresh(const Json& config) {
  return build_model(config, "a test's config",
                     {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}.at("weights"), .trainable = true});
}

Json shared_sizes() {
  return {{"vocab_size", 41},         {"hidden_size", 24},        {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"head_dim", 10},           {"num_key_value_heads", 2},
          {"intermediate_size", 36},  {"initializer_range", 0.1}, {"tie_word_embeddings", true},
          {"pad_token_id", 2},        {"eos_token_id", 1}};
}

Json attune_config(const std::string& head, const Json& attention = Json::object()) {
  Json config = shared_sizes();
  config["model_type"] = "attune";
  config["architectures"] = {head};
  config["attention"] = attention;
  return config;
}

std::string error_of(const Json& config) {
  try {
    fresh(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::vector<Example>& lines() {
  static const std::vector<Example> two = {{.chunks = {{5, 3, 40, 7, 7, 12}}, .labels = {5, 3, 40, 7, 7, 12}},
                                           {.chunks = {{9, 30, 4}}, .labels = {9, 30, 4}}};
  return two;
}

/// Loss and gradients of all weights for two lines.
std::vector<std::vector<float>> step_of(const Model& model, std::optional<RandomKey> dropout = {}) {
  const std::vector<std::int64_t> numbers = {0, 1};
  LabelledBatch batch = collate(model, lines(), numbers);
  batch.batch.dropout = dropout;
  Tensor loss = loss_of(model, batch);
  std::vector<std::vector<float>> values = {{static_cast<float>(loss.item())}};
  backward(loss);
  for (const Parameter& p : model.parameters().all()) {
    values.push_back(gradient_of(p.value).to_vector<float>());
    set_gradient(p.value, {});
  }
  return values;
}

// New weights are keyed by their names: the same names and shapes begin with the same numbers.
TEST(AttuneModel, FullAttentionWithRotaryPositionsIsLlamaBitForBit) {
  Json llama = shared_sizes();
  llama["model_type"] = "llama";
  llama["architectures"] = {"LlamaForCausalLM"};
  llama["rope_theta"] = 500.0;
  Json ours = attune_config("AttuneForCausalLM", {{"family", "full"}});
  ours["positions"] = {{"method", "rotary"}, {"rope_theta", 500.0}};
  auto a = fresh(llama), b = fresh(ours);
  ASSERT_EQ(a->parameters().all().size(), b->parameters().all().size());
  for (std::size_t i = 0; i < a->parameters().all().size(); ++i) {
    EXPECT_EQ(a->parameters().all()[i].name, b->parameters().all()[i].name);
    EXPECT_EQ(a->parameters().all()[i].value.to_vector<float>(), b->parameters().all()[i].value.to_vector<float>());
  }
  EXPECT_EQ(step_of(*a), step_of(*b));
}

TEST(AttuneModel, ADecoderSeesNoLaterTokenAndAnEncoderDoes) {
  for (const char* head : {"AttuneForCausalLM", "AttuneForMaskedLM"}) {
    auto model = fresh(attune_config(head));
    auto first = [&](std::int64_t last) {
      return model->forward(Batch::of({{5, 3, 40, last}})).detached().rows(0, 3).contiguous().to_vector<float>();
    };
    EXPECT_EQ(first(7) == first(8), std::string(head) == "AttuneForCausalLM");
  }
}

TEST(AttuneModel, AMaskedHeadIsAskedForTheTokenItself) {
  auto model = fresh(attune_config("AttuneForMaskedLM"));
  const std::vector<std::int64_t> numbers = {0, 1};
  LabelledBatch batch = collate(*model, lines(), numbers);
  EXPECT_EQ(batch.labelled, 9);  // none is shifted out of its line
  EXPECT_EQ(batch.labels.to_vector<std::int64_t>()[0], 5);
}

TEST(AttuneModel, TakesLayerNormAndAPlainFeedForward) {
  Json config = attune_config("AttuneForCausalLM");
  config["norm"] = "layer";
  config["mlp"] = "plain";
  config["positions"] = {{"method", "none"}};
  auto model = fresh(config);
  EXPECT_NE(model->parameters().find("model.norm.bias"), nullptr);
  EXPECT_EQ(model->parameters().find("model.layers.0.mlp.gate_proj.weight"), nullptr);
  EXPECT_GT(step_of(*model)[0][0], 0);
}

TEST(AttuneModel, CheckpointedBlocksGiveTheSameGradientsSegmentBySegmentToo) {
  for (const Json& attention :
       {Json{{"family", "full"}}, Json{{"family", "recurrent_memory"}, {"segment", 2}, {"memory_tokens", 3}}}) {
    Json config = attune_config("AttuneForCausalLM", attention);
    config["dropout"] = 0.2;
    auto model = fresh(config);
    const auto plain = step_of(*model, RandomKey{1, 2, 3});
    model->checkpoint_blocks(true);
    EXPECT_EQ(step_of(*model, RandomKey{1, 2, 3}), plain);
  }
}

TEST(AttuneModel, RecurrentMemoryReachesTokensThatNoSegmentReaches) {
  const Json attention{{"family", "recurrent_memory"}, {"segment", 2}, {"memory_tokens", 3}};
  auto model = fresh(attune_config("AttuneForCausalLM", attention));
  ASSERT_NE(model->parameters().find("model.layers.0.self_attn.memory"), nullptr);
  EXPECT_EQ(model->parameters().find("model.layers.1.self_attn.memory"), nullptr);
  auto row = [&](std::int64_t first, std::int64_t t) {
    const Batch batch = Batch::of({{first, 3, 40, 7, 11}, {4, 5}});
    return model->forward(batch).detached().rows(t, t + 1).contiguous().to_vector<float>();
  };
  EXPECT_NE(row(5, 4), row(6, 4));  // two segments later
  EXPECT_EQ(row(5, 5), row(6, 5));  // another sequence
}

/// A model of each position method there is, with as many key heads as query heads: DeBERTa's needs them.
std::vector<Json> of_all_positions(const std::string& head) {
  std::vector<Json> configs;
  for (const PositionEntry& entry : position_methods()) {
    Json config = attune_config(head);
    config["num_key_value_heads"] = 4;
    config["max_position_embeddings"] = 12;
    config["positions"] = {{"method", entry.name}};
    configs.push_back(config);
  }
  return configs;
}

TEST(AttuneModel, TakesEveryPositionMethodAsDecoderAndEncoder) {
  for (const std::string head : {"AttuneForCausalLM", "AttuneForMaskedLM"}) {
    std::set<std::vector<float>> results;
    for (const Json& config : of_all_positions(head)) {
      SCOPED_TRACE(to_text(config["positions"]));
      auto model = fresh(config);
      auto first = [&](std::int64_t last) {
        return model->forward(Batch::of({{5, 3, 40, last}})).detached().rows(0, 3).contiguous().to_vector<float>();
      };
      EXPECT_EQ(first(7) == first(8), head == "AttuneForCausalLM");
      results.insert(first(7));
      const auto step = step_of(*model);  // every weight has its gradient
      const auto& weights = model->parameters().all();
      for (std::size_t i = 0; i < weights.size(); ++i)
        EXPECT_TRUE(std::ranges::any_of(step[i + 1], [](float g) { return g != 0; })) << weights[i].name;
      model->checkpoint_blocks(true);
      EXPECT_EQ(step_of(*model), step);
    }
    EXPECT_EQ(results.size(), position_methods().size());  // no two are the same
  }
}

TEST(AttuneModel, PositionsOnTheReferenceInF64AgreeWithF32) {
  for (const Json& config : of_all_positions("AttuneForCausalLM")) {
    const WeightSource exact{.checkpoint = {}, .initial = RandomKey{.seed = 3}.at("weights"), .type = DType::F64};
    const Tensor reference = build_model(config, "a test's config", exact)->forward(Batch::of({{5, 3, 40}, {7}}));
    ASSERT_EQ(reference.dtype(), DType::F64);
    const std::vector<double> expected = reference.to_vector<double>();
    const std::vector<float> ours = fresh(config)->forward(Batch::of({{5, 3, 40}, {7}})).to_vector<float>();
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_NEAR(ours[i], expected[i], 2e-5) << to_text(config["positions"]);
  }
}

TEST(AttuneModel, OnlyPositionsTellAnEncoderTheOrder) {
  for (const Json& config : of_all_positions("AttuneForMaskedLM")) {
    auto model = fresh(config);
    auto last = [&](std::int64_t a, std::int64_t b) {
      return model->forward(Batch::of({{a, b, 40}})).detached().rows(2, 3).contiguous().to_vector<float>();
    };
    const std::vector<float> one = last(5, 9), other = last(9, 5);
    double difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i) difference = std::max(difference, std::abs(double{one[i]} - other[i]));
    EXPECT_EQ(difference > 1e-5, config["positions"]["method"] != "none") << to_text(config["positions"]);
  }
}

TEST(AttuneModel, PositionTablesBoundTheSequence) {
  Json config = attune_config("AttuneForCausalLM");
  config["positions"] = {{"method", "learned"}, {"length", 5}, {"stretched_to", 9}};
  EXPECT_EQ(fresh(config)->facts().longest, 9);
  config["max_position_embeddings"] = 9;
  EXPECT_EQ(fresh(config)->facts().longest, 9);
  config["max_position_embeddings"] = 7;
  EXPECT_NE(error_of(config).find("max_position_embeddings = 9"), std::string::npos) << error_of(config);
  config["positions"] = {{"method", "alibi"}};
  EXPECT_EQ(fresh(config)->facts().longest, 7);
  config.erase("max_position_embeddings");
  EXPECT_FALSE(fresh(config)->facts().longest.has_value());
}

TEST(AttuneModel, KnnWindowsTakePositionsThatChangeScoresAndTransformerXlHasItsOwn) {
  Json config = attune_config("AttuneForCausalLM", {{"family", "knn"}, {"local", 2}, {"layer", 0}});
  const auto plain = step_of(*fresh(config))[0];
  config["positions"] = {{"method", "alibi"}};
  EXPECT_NE(step_of(*fresh(config))[0], plain);
  config["attention"] = {{"family", "transformer_xl"}};
  EXPECT_NE(error_of(config).find("method"), std::string::npos);
  config["positions"] = {{"method", "rotary"}};
  EXPECT_NE(error_of(config).find("of its own"), std::string::npos);
  config["positions"] = {{"method", "none"}};
  const auto none = step_of(*fresh(config))[0];
  config.erase("positions");
  EXPECT_EQ(step_of(*fresh(config))[0], none);
}

TEST(AttuneModel, SegmentsOfRecurrentMemoryCountTheirPositionsFromTheirBeginning) {
  // A table of 6 positions is enough for [memory; segment; memory], however long the text.
  Json config =
      attune_config("AttuneForCausalLM", {{"family", "recurrent_memory"}, {"segment", 2}, {"memory_tokens", 2}});
  config["positions"] = {{"method", "learned"}};
  config["max_position_embeddings"] = 6;
  const Batch batch = Batch::of({{5, 3, 5, 3, 5, 3, 5, 3, 5}});
  EXPECT_EQ(fresh(config)->forward(batch).dim(0), 9);
  config["attention"] = {{"family", "full"}};
  EXPECT_THROW(fresh(config)->forward(batch), Error);
}

TEST(AttuneModel, ATextInPlaceOfATableIsShownAsOne) {
  Json config = attune_config("AttuneForCausalLM", "window");
  EXPECT_NE(error_of(config).find(R"("attention" is "window": expected a table: {family = "window"})"),
            std::string::npos)
      << error_of(config);
  config["attention"] = Json::object();
  config["positions"] = "rotary";
  EXPECT_NE(error_of(config).find(R"({method = "rotary"})"), std::string::npos) << error_of(config);
}

TEST(AttuneModel, SizesOutOfRangeNameTheirKeysAndRanges) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim",
                          "num_key_value_heads", "intermediate_size", "max_position_embeddings"}) {
    Json config = attune_config("AttuneForCausalLM");
    config[key] = 1000000000000;
    EXPECT_NE(error_of(config).find("\"" + std::string(key) + "\""), std::string::npos) << error_of(config);
    EXPECT_NE(error_of(config).find("at most"), std::string::npos) << error_of(config);
  }
  Json odd = attune_config("AttuneForCausalLM");
  odd["head_dim"] = 7;
  EXPECT_NE(error_of(odd).find("head_dim 7"), std::string::npos) << error_of(odd);
  odd.erase("head_dim");  // 24 / 8 is 3
  odd["num_attention_heads"] = 8;
  EXPECT_NE(error_of(odd).find("num_attention_heads"), std::string::npos) << error_of(odd);
}

TEST(AttuneModel, RefusesWhatItCannotRead) {
  Json scoreless = attune_config("AttuneForMaskedLM", {{"family", "linformer"}});
  scoreless["max_position_embeddings"] = 12;
  scoreless["positions"] = {{"method", "alibi"}};
  EXPECT_NE(error_of(scoreless).find("no scores"), std::string::npos);
  EXPECT_NE(error_of(attune_config("AttuneForCausalLM", {{"family", "fulll"}})).find("full"), std::string::npos);
  EXPECT_NE(error_of(attune_config("AttuneForCausalLM", {{"family", "full"}, {"rank", 3}})).find("rank"),
            std::string::npos);
  Json headless = attune_config("AttuneForCausalLM");
  headless.erase("architectures");
  EXPECT_NE(error_of(headless).find("AttuneForMaskedLM"), std::string::npos);
}

}  // namespace
}  // namespace attune
