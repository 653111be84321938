#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/convert.h"
#include "attune/data/example_file.h"
#include "attune/models/forward.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR);

class ConvertDirectory : public testing::Test {
 protected:
  ConvertDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "attune-int8-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~ConvertDirectory() override { std::filesystem::remove_all(directory_); }

  Path directory_;
};

std::vector<std::vector<float>> logits_of(const Path& model, const std::vector<Example>& examples,
                                          const LoadOptions& options = {}) {
  const Bundle bundle = load_bundle(model, options);
  std::vector<std::vector<float>> logits;
  for (const NamedTensor& one : forward_examples(*bundle.model, examples, {}))
    if (one.name.ends_with("/logits")) logits.push_back(one.tensor.to_vector<float>());
  return logits;
}

std::vector<Example> examples_of(const std::string& model) {
  std::vector<Example> examples = read_examples(golden / "models" / model / "input.jsonl");
  for (Example& example : examples) example.labels.clear();
  return examples;
}

double largest_difference(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  EXPECT_EQ(a.size(), b.size());
  EXPECT_FALSE(a.empty());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].size(), b[i].size());
    for (std::size_t j = 0; j < a[i].size(); ++j)
      largest = std::max(largest, std::abs(double{a[i][j]} - double{b[i][j]}));
  }
  return largest;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(ConvertDirectory, WhatCompressedTensorsWroteGivesTransformersLogits) {
  const Json expected = read_json(golden / "int8" / "expected.json");
  std::vector<Example> examples;
  for (const Json& ids : expected["ids"]) examples.push_back(Example::of(ids.get<std::vector<std::int64_t>>()));
  const auto rows = [&](const char* key) { return expected[key].get<std::vector<std::vector<float>>>(); };
  const auto exact = rows("inputs_exact"), rounded = rows("inputs_rounded");
  EXPECT_LT(largest_difference(logits_of(golden / "int8" / "bert", examples, {.type = DType::F64}), exact), 1e-5);
  // Inputs that round to another neighbour move a logit as far as rounding itself does.
  const auto ours = logits_of(golden / "int8" / "bert", examples);
  EXPECT_LT(largest_difference(ours, exact), 1.5 * largest_difference(rounded, exact));
  EXPECT_LT(largest_difference(ours, rounded), 1.5 * largest_difference(rounded, exact));
}

TEST_F(ConvertDirectory, Int8IsNearWhatItWasMadeOfAndSaysHowNear) {
  for (const char* name : {"bert_classification", "t5_scaled", "marian_scaled", "roberta_masked_lm", "mixtral_fused"}) {
    SCOPED_TRACE(name);
    const Path source = golden / "models" / name, int8 = directory_ / name;
    const ConvertReport report = convert_directory(source, int8, std::nullopt);
    ASSERT_TRUE(report.rounding);
    EXPECT_GT(report.rounding->mean, 0.001);
    EXPECT_LT(report.rounding->worst, 0.02);
    const auto before = logits_of(source, examples_of(name)), after = logits_of(int8, examples_of(name));
    double size = 0;
    for (float x : before[0]) size = std::max(size, std::abs(double{x}));
    EXPECT_LT(largest_difference(before, after), 0.2 * size);
    // The same as rounding at load, but for weights that the file leaves in f32.
    EXPECT_LT(largest_difference(after, logits_of(source, examples_of(name), {.linears = LinearFormat::int8})),
              1e-5 * size);
    // In numbers again: what the reference makes of the codes.
    convert_directory(int8, directory_ / "again", DType::F32);
    const auto again = logits_of(directory_ / "again", examples_of(name), {.type = DType::F64});
    EXPECT_LT(largest_difference(again, logits_of(int8, examples_of(name), {.type = DType::F64})), 1e-5 * size);
    EXPECT_FALSE(load_bundle(directory_ / "again").config->contains("quantization_config"));
    std::filesystem::remove_all(directory_ / "again");
  }
}

TEST_F(ConvertDirectory, RefusesWhatInt8HasNoPlaceFor) {
  const Path models = golden / "models";
  EXPECT_NE(
      error_of([&] { convert_directory(models / "gpt2_tied", directory_ / "a", std::nullopt); }).find("[in, out]"),
      std::string::npos);
  convert_directory(models / "bert_classification", directory_ / "b", std::nullopt);
  EXPECT_NE(error_of([&] { convert_directory(directory_ / "b", directory_ / "c", std::nullopt); }).find("already"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              convert_directory(models / "bert_classification", directory_ / "b", DType::F16);
            }).find("is there already"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load_bundle(directory_ / "b", {.trainable = true}); }).find("--type f32"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "c"));
}

TEST_F(ConvertDirectory, OtherWaysOfRoundingAreErrorsThatNameTheKey) {
  const Path model = directory_ / "model";
  convert_directory(golden / "models" / "bert_classification", model, std::nullopt);
  const Json config = read_json(model / "config.json");
  const auto error_with = [&](const std::function<void(Json&)>& change) {
    Json changed = config;
    change(changed["quantization_config"]);
    write_file_atomically(model / "config.json", changed.dump());
    return error_of([&] { load_bundle(model); });
  };
  using Change = std::function<void(Json&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"quant_method", [](Json& q) { q["quant_method"] = "gptq"; }},
      {"format", [](Json& q) { q["format"] = "pack-quantized"; }},
      {"num_bits", [](Json& q) { q["config_groups"]["group_0"]["weights"]["num_bits"] = 4; }},
      {"symmetric", [](Json& q) { q["config_groups"]["group_0"]["weights"]["symmetric"] = false; }},
      {"strategy", [](Json& q) { q["config_groups"]["group_0"]["weights"]["strategy"] = "tensor"; }},
      {"dynamic", [](Json& q) { q["config_groups"]["group_0"]["input_activations"]["dynamic"] = false; }},
      {"input_activations", [](Json& q) { q["config_groups"]["group_0"]["input_activations"] = nullptr; }},
      {"output_activations",
       [](Json& q) {
         q["config_groups"]["group_0"]["output_activations"] = {{"num_bits", 8}};
       }},
      {"kv_cache_scheme",
       [](Json& q) {
         q["kv_cache_scheme"] = {{"num_bits", 8}};
       }},
      {"tied_output", [](Json& q) { q["tied_output"] = "int4"; }},
      {"surprise", [](Json& q) { q["surprise"] = 1; }},
  };
  for (const auto& [key, change] : changes) EXPECT_NE(error_with(change).find(key), std::string::npos) << key;
  EXPECT_EQ(error_with([](Json&) {}), "");
}

}  // namespace
}  // namespace attune
