// What tests/golden/models does not show of encoder-decoders: configs that are refused, files that name a tied table
// otherwise, an encoder alone, layers left out in training.
#include <gtest/gtest.h>

#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/objective.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR) / "models";

std::unique_ptr<Model> with_weights(const Json& config, const Path& weights) {
  return build_model(config, "a test's config",
                     {.checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(weights)), .initial = {}});
}

std::unique_ptr<Model> open(const std::string& name) {
  return with_weights(read_json(golden / name / "config.json"), golden / name / "model.safetensors");
}

const std::vector<std::vector<std::int64_t>> sources = {{7, 17, 23, 14, 5}, {9}, {12, 3, 4, 8, 30, 31}};
const std::vector<std::vector<std::int64_t>> targets = {{4, 9, 22}, {4, 30, 11, 3}, {4}};

std::vector<float> logits_of(const Model& model) {
  NoGradient none;
  const Batch batch = Batch::of(targets);
  return model.head().logits(model.forward(batch, model.encode(Batch::of(sources))), batch).to_vector<float>();
}

void expect_refused(const std::string& name, const Json& changes, const std::string& part) {
  Json config = read_json(golden / name / "config.json");
  config.update(changes);
  try {
    with_weights(config, golden / name / "model.safetensors");
    ADD_FAILURE() << name << " takes " << changes.dump();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(EncoderDecoder, WhatAConfigAsksForAndNoModelHereHasIsAnErrorThatNamesIt) {
  expect_refused("bart_scaled", {{"normalize_before", true}}, "normalize_before");
  expect_refused("bart_scaled", {{"normalize_embedding", false}}, "normalize_embedding");
  expect_refused("mbart_scaled", {{"add_final_layer_norm", false}}, "add_final_layer_norm");
  expect_refused("pegasus_scaled", {{"static_position_embeddings", false}}, "static_position_embeddings");
  expect_refused("marian_scaled", {{"share_encoder_decoder_embeddings", false}}, "share_encoder_decoder_embeddings");
  expect_refused("bart_scaled", {{"encoder_attention_heads", 5}}, "encoder_attention_heads");
  expect_refused("bart_scaled", {{"activation_function", "gelu_10"}}, "activation_function");
  expect_refused("bart_scaled", {{"is_encoder_decoder", false}}, "is_encoder_decoder");
  expect_refused("bart_scaled", {{"num_hidden_layers", 7}}, "num_hidden_layers");
  expect_refused("m2m_100_scaled", {{"pad_token_id", 39}}, "pad_token_id");
  expect_refused("t5_scaled", {{"feed_forward_proj", "gated-gelu-new"}}, "feed_forward_proj");
  expect_refused("t5_scaled", {{"feed_forward_proj", "linear-gelu"}}, "feed_forward_proj");
  expect_refused("t5_scaled", {{"dense_act_fn", "relu"}}, "dense_act_fn");
  expect_refused("t5_scaled", {{"is_gated_act", true}}, "is_gated_act");
  expect_refused("t5_scaled", {{"relative_attention_max_distance", 4}}, "relative_attention_max_distance");
  expect_refused("t5_scaled", {{"head_dim", 6}}, "head_dim");
  expect_refused("umt5_scaled", {{"a_new_option", 1}}, "a_new_option");
}

TEST(EncoderDecoder, KeysThatChangeNothingAreTaken) {
  Json config = read_json(golden / "bart_scaled" / "config.json");
  config.update({{"normalize_before", false},
                 {"extra_pos_embeddings", 2},
                 {"num_beams", 4},
                 {"min_length", 56},
                 {"no_repeat_ngram_size", 3},
                 {"prefix", " "},
                 {"num_hidden_layers", 2},
                 {"output_past", true},
                 {"task_specific_params", {{"summarization", {{"num_beams", 4}}}}}});
  auto model = with_weights(config, golden / "bart_scaled" / "model.safetensors");
  EXPECT_EQ(logits_of(*model), logits_of(*open("bart_scaled")));
}

/// A copy of a golden's weights under other names.
class Renamed {
 public:
  Renamed(const std::string& name, const std::function<std::string(const std::string&)>& rename) {
    const Checkpoint checkpoint = Checkpoint::open(golden / name / "model.safetensors");
    std::vector<NamedTensor> tensors;
    for (const std::string& old : checkpoint.names())
      if (const std::string fresh = rename(old); !fresh.empty()) tensors.push_back({fresh, checkpoint.tensor(old)});
    path_ = std::filesystem::temp_directory_path() / ("attune_renamed_" + name + ".safetensors");
    write_safetensors(path_, tensors);
  }
  ~Renamed() { std::filesystem::remove(path_); }
  const Path& path() const { return path_; }

 private:
  Path path_;
};

TEST(EncoderDecoder, ATiedTableIsFoundUnderAnyOfItsNames) {
  const std::pair<std::string, std::string> models[] = {{"bart_scaled", "model."}, {"t5_scaled", ""}};
  for (const auto& model : models) {
    const std::string name = model.first, base = model.second;
    const std::vector<float> expected = logits_of(*open(name));
    for (const std::string& other :
         {base + "encoder.embed_tokens.weight", base + "decoder.embed_tokens.weight", std::string("lm_head.weight")}) {
      SCOPED_TRACE(other);
      const Renamed file(name, [&](const std::string& old) { return old == base + "shared.weight" ? other : old; });
      EXPECT_EQ(logits_of(*with_weights(read_json(golden / name / "config.json"), file.path())), expected);
    }
  }
}

TEST(EncoderDecoder, FilesWithoutTheirPrefixAreRead) {
  const Renamed file("bart_scaled",
                     [](const std::string& old) { return old.starts_with("model.") ? old.substr(6) : old; });
  EXPECT_EQ(logits_of(*with_weights(read_json(golden / "bart_scaled" / "config.json"), file.path())),
            logits_of(*open("bart_scaled")));
}

TEST(EncoderDecoder, AnEncoderAloneGivesTheStatesThatADecoderWouldRead) {
  NoGradient none;
  for (const std::string name : {"t5_scaled", "umt5_scaled"}) {
    Json config = read_json(golden / name / "config.json");
    config["architectures"] = {name[0] == 'u' ? "UMT5EncoderModel" : "T5EncoderModel"};
    config["is_encoder_decoder"] = false;
    const Renamed file(name, [](const std::string& old) { return old.starts_with("decoder.") ? "" : old; });
    auto encoder = with_weights(config, file.path());
    EXPECT_EQ(encoder->forward(Batch::of(sources)).to_vector<float>(),
              open(name)->encode(Batch::of(sources)).states.to_vector<float>());
    EXPECT_TRUE(encoder->decoding_blocks().empty());
  }
}

/// Counts the layers whose output is their input.
class LeftOut : public Observer {
 public:
  int count = 0;
  void hidden_state(Stack, int layer, const Tensor& x) override {
    if (layer > 0) count += x.to_vector<float>() == before_;
    before_ = x.to_vector<float>();
  }
  bool wants_attention(Stack, int) const override { return false; }
  void attention(Stack, int, std::int64_t, const Tensor&) override {}

 private:
  std::vector<float> before_;
};

TEST(EncoderDecoder, LayersAreLeftOutInTrainingAsOftenAsTheConfigSays) {
  NoGradient none;
  Json config = read_json(golden / "bart_scaled" / "config.json");
  config["encoder_layers"] = 40;
  config["encoder_layerdrop"] = 0.25;
  auto model = build_model(config, "a test's config", {.checkpoint = nullptr, .initial = {.seed = 3}});
  Batch batch = Batch::of(sources);
  LeftOut inference, training;
  model->encode(batch, &inference);
  EXPECT_EQ(inference.count, 0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    batch.dropout = RandomKey{.seed = 5, .step = step};
    model->encode(batch, &training);
  }
  EXPECT_NEAR(training.count / 800.0, 0.25, 0.06);
}

TEST(EncoderDecoder, AClassifierNeedsAnEndTokenInEachText) {
  auto model = open("bart_classification");
  const Batch batch = Batch::of({{5, 6}, {7, 8}});
  try {
    model->head().features(model->forward(batch), batch, nullptr);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("sequence 1 has no end token (6)"), std::string::npos) << error.what();
  }
}

TEST(EncoderDecoder, MBartsDecoderBeginsWithTheLastLabelThatIsNoPadding) {
  auto model = open("mbart_scaled");
  Example example;
  example.chunks = {{7, 8, 6}};
  example.labels = {10, 11, 6, 20};
  const std::vector<std::int64_t> numbers = {0};
  auto read = [&] { return collate(*model, std::span(&example, 1), numbers).decoder->ids.to_vector<std::int64_t>(); };
  EXPECT_EQ(read(), (std::vector<std::int64_t>{20, 10, 11, 6}));
  example.labels = {10, 11, 20, -100};
  EXPECT_EQ(read(), (std::vector<std::int64_t>{20, 10, 11, 20}));
  example.labels = {-100, -100};
  EXPECT_THROW(read(), Error);
}

}  // namespace
}  // namespace attune
