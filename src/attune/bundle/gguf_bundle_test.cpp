#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/convert.h"
#include "attune/bundle/gguf_config.h"
#include "attune/bundle/gguf_tokenizer.h"
#include "attune/data/example_file.h"
#include "attune/models/forward.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR);

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "attune-bundle-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  Path path;
};

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  EXPECT_FALSE(a.empty());
  double worst = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) worst = std::max(worst, std::abs(double{a[i]} - b[i]));
  return worst;
}

/// Final hidden states of all examples in a golden model's input.
std::vector<float> states_of(const Path& model, const Path& inputs) {
  const Bundle bundle = load_bundle(model);
  std::vector<Example> examples = read_examples(inputs);
  for (Example& example : examples) example.labels.clear();
  std::vector<float> states;
  for (const NamedTensor& one : forward_examples(*bundle.model, examples, {}))
    if (one.name.ends_with("/last_hidden_state"))
      for (float value : one.tensor.to_vector<float>()) states.push_back(value);
  return states;
}

std::vector<float> outputs_of(const Path& model, const Json& one) {
  const Bundle bundle = load_bundle(model);
  Example example;
  example.chunks = {one["ids"].get<std::vector<std::int64_t>>()};
  if (one.contains("decoder_ids")) example.decoder_ids = one["decoder_ids"].get<std::vector<std::int64_t>>();
  const bool states = bundle.model->facts().head == HeadKind::none;
  for (const NamedTensor& one : forward_examples(*bundle.model, std::vector{example}, {}))
    if (one.name == (states ? "0/last_hidden_state" : "0/logits")) return one.tensor.to_vector<float>();
  return {};
}

/// The models of tools/golden/gguf_models.py, which have the settings that GGUF files cannot say; as directories too,
/// and as files that were written from those.
class GgufModels : public testing::TestWithParam<std::string> {
 public:
  static Json cases() { return read_json(golden / "gguf" / "models.json"); }
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    const Json all = cases();
    for (const auto& [name, one] : all.items()) names.push_back(name);
    return names;
  }
};

TEST_P(GgufModels, GiveTheLogitsOfTransformersThereAndBack) {
  const Json one = cases()[GetParam()];
  RecordProperty("model_type", one["model_type"].get<std::string>());
  TemporaryDirectory scratch;
  const Path file = golden / "gguf" / (GetParam() + ".gguf"), directory = scratch.path / "model",
             again = scratch.path / "again.gguf";
  const auto expected = one["outputs"].get<std::vector<float>>();
  EXPECT_LT(difference(outputs_of(file, one), expected), 1e-4);
  convert_to_directory(file, directory, DType::F32);
  EXPECT_LT(difference(outputs_of(directory, one), expected), 1e-4);
  convert_to_gguf(directory, again, DType::F32);
  EXPECT_LT(difference(outputs_of(again, one), expected), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, GgufModels, testing::ValuesIn(GgufModels::names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(GgufBundle, ConfigIsThePublishedOne) {
  const Bundle bundle = load_bundle(golden / "gguf" / "llama_untied_llama3_rope.gguf");
  const Json published = read_json(golden / "models" / "llama_untied_llama3_rope" / "config.json");
  for (const char* key :
       {"model_type", "architectures", "hidden_size", "num_hidden_layers", "num_key_value_heads", "head_dim",
        "rms_norm_eps", "rope_theta", "tie_word_embeddings", "vocab_size", "attention_bias", "hidden_act"})
    EXPECT_EQ((*bundle.config)[key], published[key]) << key;
  EXPECT_FALSE(bundle.tokenizer.has_value());
  EXPECT_THROW(bundle.text(), Error);
}

/// Every golden model that GGUF has a form for gives the same there and back again; every other is refused with a
/// reason.
/// The config of a small golden file's model, and what else published ones of its kind say.
Json with_keys(const std::string& name, const Json& more) {
  const GgufFile file = GgufFile::open(golden / "gguf" / ("tiny_" + name + ".gguf"));
  Json config = gguf_config(file, gguf_architecture(name, false));
  config.update(more);
  return config;
}

TEST(GgufBundle, WhatEachFileOfAnArchitectureImpliesMayStandInItsConfig) {
  const std::pair<std::string, Json> said[] = {
      {"qwen2", {{"max_window_layers", 28}, {"use_sliding_window", false}, {"layer_types", {"full_attention"}}}},
      {"qwen2moe", {{"qkv_bias", true}}},
      {"qwen3moe", {{"num_experts", nullptr}, {"num_local_experts", 4}, {"max_window_layers", 28}}},
      {"smollm3", {{"layer_types", {"full_attention", "full_attention"}}}},
      {"gemma3", {{"_sliding_window_pattern", 6}}},
      {"falcon", {{"activation", "gelu"}}},
      {"bloom", {{"seq_length", 4096}}},
      {"mpt", {{"emb_pdrop", 0.5}, {"embedding_fraction", 1.0}, {"init_device", "cpu"}, {"norm_type", "layernorm"}}}};
  for (const auto& [name, more] : said) {
    const GgufArchitecture& architecture = gguf_architecture(name, false);
    GgufConfigTarget target{name};
    EXPECT_NO_THROW(target = gguf_config_target(with_keys(name, more), Json::object(), architecture)) << name;
    EXPECT_TRUE(target.metadata.integer(name + ".context_length")) << name;  // llama.cpp asks for it
  }
  const std::pair<std::string, Json> contradicted[] = {{"qwen2", {{"use_sliding_window", true}}},
                                                       {"qwen2moe", {{"qkv_bias", false}}},
                                                       {"smollm3", {{"layer_types", {"sliding_attention"}}}},
                                                       {"gemma3", {{"_sliding_window_pattern", 4}}},
                                                       {"falcon", {{"activation", "relu"}}}};
  for (const auto& [name, more] : contradicted)
    EXPECT_THROW(gguf_config_target(with_keys(name, more), Json::object(), gguf_architecture(name, false)), Error)
        << name;
  EXPECT_EQ(
      gguf_config_target(with_keys("bloom", {{"seq_length", 4096}}), Json::object(), gguf_architecture("bloom", false))
          .metadata.integer("bloom.context_length"),
      4096);
}

TEST(GgufBundle, NewerAndOlderNamesAndDefaultsOfRotaryPositionsAreWritten) {
  const auto written = [](const std::string& name, const Json& more, const std::vector<std::string>& without,
                          const Json& defaults) {
    Json config = with_keys(name, more);
    for (const std::string& key : without) config.erase(key);
    return gguf_config_target(config, defaults, gguf_architecture(name, false)).metadata;
  };
  const Json both = {{"full_attention", {{"rope_theta", 700.0}, {"rope_type", "default"}}},
                     {"sliding_attention", {{"rope_theta", 60.0}, {"rope_type", "default"}}}};
  const GgufMetadata gemma = written("gemma3", {{"rope_parameters", both}},
                                     {"rope_theta", "rope_scaling", "rope_local_base_freq"}, {{"rope_theta", 1000000}});
  EXPECT_EQ(gemma.decimal("gemma3.rope.freq_base"), 700);
  EXPECT_EQ(gemma.decimal("gemma3.rope.freq_base_swa"), 60);
  const Json yarn = {{"rope_scaling", {{"rope_type", "yarn"}}}, {"max_position_embeddings", 64}};
  const GgufMetadata llama = written("llama", yarn, {"rope_parameters"}, {{"original_max_position_embeddings", 16}});
  EXPECT_EQ(llama.decimal("llama.rope.scaling.factor"), 4);
  EXPECT_EQ(llama.integer("llama.rope.scaling.original_context_length"), 16);
  const GgufMetadata bloom =
      written("bloom", {{"num_hidden_layers", 3}, {"n_embed", 16}}, {"n_layer", "hidden_size"}, {});
  EXPECT_EQ(bloom.integer("bloom.block_count"), 3);
  EXPECT_EQ(bloom.integer("bloom.feed_forward_length"), 64);
}

TEST(GgufBundle, ModelsAreTheSameThereAndBack) {
  int converted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden / "models")) {
    const std::string model = entry.path().filename().string();
    TemporaryDirectory scratch;
    try {
      convert_to_gguf(entry.path(), scratch.path / "model.gguf", DType::F32);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("GGUF"), std::string::npos) << message;
      EXPECT_FALSE(std::filesystem::exists(scratch.path / "model.gguf"));
      continue;
    }
    SCOPED_TRACE(model);
    ++converted;
    const std::vector<float> states = states_of(entry.path(), entry.path() / "input.jsonl");
    EXPECT_LT(difference(states_of(scratch.path / "model.gguf", entry.path() / "input.jsonl"), states), 2e-5);
    convert_to_directory(scratch.path / "model.gguf", scratch.path / "back", DType::F32);
    EXPECT_LT(difference(states_of(scratch.path / "back", entry.path() / "input.jsonl"), states), 2e-5);
  }
  EXPECT_GE(converted, 2);  // most have settings that no file of their architecture has
}

/// Leaves out one key after the other of a model directory's config.json, as far as weights and form of a GGUF file fit
/// what is taken for it. Counts the keys by name.
void leave_out_keys(const Path& directory, std::map<std::string, int>& left_out) {
  Json config = read_json(directory / "config.json");
  const Json all = config;
  for (const auto& [key, value] : all.items()) {
    // What it is, and the width, whose default fits no small model and takes its time to find out.
    if (key == "model_type" || key == "architectures" || key == "hidden_size" || key == "d_model" || key == "n_embd")
      continue;
    Json less = config;
    less.erase(key);
    std::ofstream(directory / "config.json") << to_text(less);
    try {
      const Bundle bundle = load_bundle(directory);
      if (!bundle.model->parameters().fresh().empty()) continue;  // a weight that the file does not have
      gguf_config_target(less, *bundle.defaults, gguf_architecture_for(bundle.model->facts().model_type));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("must say it"), std::string::npos) << error.what();
      continue;
    }
    config = less;
    ++left_out[key];
  }
  std::ofstream(directory / "config.json") << to_text(config);
}

TEST(GgufBundle, AKeyThatConfigJsonLeavesOutIsWrittenAsTheModelReadsIt) {
  std::map<std::string, int> left_out;
  std::set<std::string> seen;  // one model of each architecture
  const Json cases = GgufModels::cases();
  for (const auto& [name, one] : cases.items()) {
    if (!seen.insert(one["model_type"].get<std::string>()).second) continue;
    SCOPED_TRACE(name);
    TemporaryDirectory scratch;
    const Path directory = scratch.path / "model", file = scratch.path / "model.gguf";
    convert_to_directory(golden / "gguf" / (name + ".gguf"), directory, DType::F32);
    leave_out_keys(directory, left_out);
    try {
      convert_to_gguf(directory, file, DType::F32);
    } catch (const Error& error) {  // T5 is tied by default, and this one is not
      EXPECT_NE(std::string(error.what()).find("tie_word_embeddings"), std::string::npos) << error.what();
      continue;
    }
    EXPECT_LT(difference(outputs_of(file, one), outputs_of(directory, one)), 1e-4);
  }
  for (const char* key : {"layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "rms_norm_eps", "rope_theta",
                          "sliding_window", "max_position_embeddings", "logit_scale", "partial_rotary_factor",
                          "final_logit_softcapping", "attention_multiplier", "use_parallel_residual", "n_layer"})
    EXPECT_GT(left_out[key], 0) << key;
}

TEST(GgufBundle, SmallTypesAreNearTheModel) {
  TemporaryDirectory scratch;
  const Path model = golden / "models" / "llama_untied_llama3_rope", inputs = model / "input.jsonl";
  const std::vector<float> states = states_of(model, inputs);
  for (const auto& [type, most] : {std::pair("f16", 1e-2), std::pair("bf16", 1e-1)}) {
    const Path file = scratch.path / (std::string(type) + ".gguf");
    convert_to_gguf(model, file, written_format(type));
    EXPECT_LT(difference(states_of(file, inputs), states), most) << type;
  }
  EXPECT_THROW(written_format("q9"), Error);
  const ConvertReport report = convert_to_gguf(model, scratch.path / "q.gguf", QuantisedFormat::Q4_K);
  EXPECT_FALSE(report.other_types.empty()) << "rows of 24 values are no blocks";
  EXPECT_LT(difference(states_of(scratch.path / "q.gguf", inputs), states), 1e-2);
}

TEST(GgufBundle, TheContractIsBesideTheFile) {
  TemporaryDirectory scratch;
  const Path file = scratch.path / "small.gguf";
  std::filesystem::copy(golden / "gguf" / "gpt2_tied.gguf", file);
  Bundle bundle = load_bundle(file);
  bundle.contract.long_policy.longest = 5;
  save_contract(bundle);
  EXPECT_TRUE(std::filesystem::exists(scratch.path / "small.attune.json"));
  EXPECT_EQ(load_bundle(file).contract.long_policy.longest, 5);
}

struct TokenizerCase {
  const char* name;   // of the golden
  const char* model;  // "tokenizer.ggml.model"
};

class GgufTokenizer : public testing::TestWithParam<TokenizerCase> {};

/// Hugging Face's ids, from a tokenizer that went into a file's metadata and out again.
TEST_P(GgufTokenizer, GivesTheIdsOfHuggingFace) {
  const Json file = read_json(golden / "text" / (std::string(GetParam().name) + ".json"));
  const Tokenizer tokenizer = Tokenizer::parse(to_text(file["tokenizer"]), GetParam().name);
  const Json config = Json::object();
  GgufMetadata metadata;
  add_gguf_tokenizer(metadata, tokenizer, {&config, tokenizer.limit() + 3, "llama"});
  EXPECT_EQ(metadata.text("tokenizer.ggml.model"), GetParam().model);
  EXPECT_EQ(metadata.texts("tokenizer.ggml.tokens").size(), static_cast<std::size_t>(tokenizer.limit() + 3));
  const Tokenizer back = Tokenizer::parse(gguf_tokenizer_json(metadata), "the metadata");
  int compared = 0;
  for (const Json& one : file["cases"]) {
    if (one.contains("pair")) continue;
    const Encoding encoding = back.encode(one["text"].get<std::string>(), {one.value("special", true), false});
    EXPECT_EQ(encoding.ids, one["ids"].get<std::vector<std::int32_t>>()) << one["text"];
    EXPECT_EQ(back.decode(encoding.ids, false), one.value("decoded_all", one["decoded"].get<std::string>()))
        << one["text"];
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

TEST(GgufWordPiece, BracketsAreWordsAndEndsOfWordsLikeOthers) {
  Json file = read_json(golden / "text" / "bert_lower.json")["tokenizer"];
  Json& words = file["model"]["vocab"];
  for (const char* word : {"[", "##[", "]", "##]", "[unused1]", "[x"}) words[word] = words.size();
  const Tokenizer tokenizer = Tokenizer::parse(to_text(file), "the tokenizer");
  const Json config = Json::object();
  GgufMetadata metadata;
  add_gguf_tokenizer(metadata, tokenizer, {&config, tokenizer.limit(), "bert"});
  const Tokenizer back = Tokenizer::parse(gguf_tokenizer_json(metadata), "the metadata");
  for (const char* word : {"[", "##[", "]", "##]", "[unused1]", "[x"})
    EXPECT_EQ(back.id_of(word), tokenizer.id_of(word)) << word;
  EXPECT_EQ(back.encode("[ab] c] [[").ids, tokenizer.encode("[ab] c] [[").ids);
}

TEST(ConvertToGguf, NeverWritesOverAFileAndSaysWhatItLeavesOut) {
  TemporaryDirectory scratch;
  write_file_atomically(scratch.path / "notes.gguf", "notes");
  EXPECT_THROW(convert_to_gguf(golden / "models" / "llama_tied_biased", scratch.path / "notes.gguf", DType::F16),
               Error);
  EXPECT_EQ(read_file(scratch.path / "notes.gguf"), "notes");
  // A masked model of which the file holds the body.
  const ConvertReport report =
      convert_to_gguf(golden / "models" / "bert_untied_gamma_beta", scratch.path / "bert.gguf", DType::F32);
  EXPECT_FALSE(report.left_out.empty());
  EXPECT_EQ(
      GgufFile::open(scratch.path / "bert.gguf").metadata().integer("tokenizer.ggml.token_type_count"),
      load_bundle(golden / "models" / "bert_untied_gamma_beta").config->at("type_vocab_size").get<std::int64_t>());
}

INSTANTIATE_TEST_SUITE_P(Text, GgufTokenizer,
                         testing::Values(TokenizerCase{"gpt2", "gpt2"}, TokenizerCase{"llama3", "gpt2"},
                                         TokenizerCase{"bert_lower", "bert"}, TokenizerCase{"byte_fallback", "llama"},
                                         TokenizerCase{"bloom", "gpt2"}, TokenizerCase{"unigram_precompiled", "t5"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace attune
