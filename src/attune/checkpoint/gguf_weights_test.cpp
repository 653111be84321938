#include "attune/checkpoint/gguf_weights.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/checkpoint/checkpoint.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR) / "gguf";

void expect_equal(const Tensor& a, const Tensor& b, double tolerance, const std::string& name) {
  ASSERT_EQ(a.shape(), b.shape()) << name;
  const std::vector<float> x = a.to(DType::F32).to_vector<float>(), y = b.to(DType::F32).to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << name << " at " << i;
}

/// Every tensor of the published file, and no other, is in the GGUF file under its own name with its own values.
void expect_published(const Path& gguf, const Path& published, const std::vector<std::string>& left_out = {}) {
  const Checkpoint a = Checkpoint::open(gguf), b = Checkpoint::open(published);
  std::vector<std::string> names;
  for (const std::string& name : b.names())
    if (std::none_of(left_out.begin(), left_out.end(),
                     [&](const auto& part) { return name.find(part) != std::string::npos; }))
      names.push_back(name);
  ASSERT_EQ(a.names(), names) << gguf;
  for (const std::string& name : names) {
    EXPECT_EQ(a.info(name).shape, b.info(name).shape) << name;
    expect_equal(a.tensor(name), b.tensor(name), 3e-7, name);  // Gemma's norms have 1 added and taken away
  }
}

TEST(GgufWeights, ArePublishedOnesWhateverAConverterDidToThem) {
  for (const char* name :
       {"llama", "mixtral", "gemma2", "gemma3", "gpt2", "gptneox", "bloom", "falcon", "qwen2moe", "stablelm"})
    expect_published(golden / (std::string(name) + ".gguf"), golden / (std::string(name) + ".safetensors"));
}

TEST(GgufWeights, WholeModelsHaveAllTheirWeights) {
  const Path models = Path(ATTUNE_GOLDEN_DIR) / "models";
  for (const char* name : {"llama_tied_biased", "llama_yarn_rope", "llama_untied_llama3_rope", "gpt2_tied"})
    expect_published(golden / (std::string(name) + ".gguf"), models / name);
  expect_published(golden / "bert_masked_lm.gguf", models / "bert_masked_lm", {"cls.", "pooler."});
}

TEST(GgufWeights, NamesAreThoseOfThePythonPackage) {
  const Json all = read_json(golden / "names.json");
  for (const auto& [architecture_name, table] : all.items()) {
    const GgufArchitecture& architecture = gguf_architecture(architecture_name, false);
    for (const auto& [published, file] : table.items()) {
      bool found = false;
      for (const GgufNameRule& rule : architecture.names) {
        const auto forward = match_name(rule.published, published);
        const auto back = match_name(rule.file, file.get<std::string>());
        if (!forward || name_with(rule.file, *forward) != file) continue;
        found = true;
        ASSERT_TRUE(back.has_value()) << file;
        EXPECT_EQ(name_with(rule.published, *back), published);
      }
      EXPECT_TRUE(found) << architecture_name << ": " << published << " is " << file;
    }
  }
}

/// Bytes of a mapped file that are in memory (proc(5), smaps).
std::int64_t resident_bytes(const Path& file) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  std::int64_t sum = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::string_view first(line.data(), std::min(line.find(' '), line.size()));
    if (first.find('-') != std::string_view::npos) inside = line.ends_with(file.filename().string());
    if (inside && line.starts_with("Rss:")) sum += std::stoll(line.substr(4)) * 1024;
  }
  return sum;
}

// Rows of Llama's queries are copied into another order: then the copy is in memory and the file's rows are not.
TEST(GgufWeights, RowsThatAreCopiedAreNotInMemoryTwice) {
  const Path file = std::filesystem::temp_directory_path() / "attune-gguf-copied.gguf";
  GgufMetadata metadata;
  metadata.set("general.architecture", GgufValue::text("llama"));
  metadata.set("llama.attention.head_count", GgufValue::u32(8));
  const Shape shape{1024, 1024};
  const auto zeros = [shape]() -> GgufValues { return QuantisedTensor::empty(shape, QuantisedFormat::Q8_0); };
  const auto numbers = [shape]() -> GgufValues { return Tensor::zeros(shape); };
  write_gguf(file, metadata,
             {{"blk.0.attn_q.weight", QuantisedFormat::Q8_0, shape, zeros},
              {"blk.0.attn_k.weight", DType::F32, shape, numbers},
              {"blk.0.attn_v.weight", QuantisedFormat::Q8_0, shape, zeros}});
  {
    const Checkpoint weights = Checkpoint::open(file);
    const std::int64_t before = resident_bytes(file);
    const auto query = weights.quantised("model.layers.0.self_attn.q_proj.weight");
    const Tensor key = weights.tensor("model.layers.0.self_attn.k_proj.weight");
    ASSERT_TRUE(query.has_value());
    EXPECT_EQ(key.to_vector<float>().front(), 0);
    EXPECT_LE(resident_bytes(file), before + 256 * 1024);  // of 5 MB
    // What is not copied stays mapped, and is in memory once it was read.
    const auto value = weights.quantised("model.layers.0.self_attn.v_proj.weight");
    int sum = 0;
    for (const std::byte b : value->bytes()) sum += std::to_integer<int>(b);
    EXPECT_GE(resident_bytes(file), 1024 * 1024) << sum;
  }
  std::filesystem::remove(file);
}

TEST(GgufWeights, BlocksHaveTheValuesThatThePythonPackageGives) {
  // As in a file of Llama's under names that it does not have: such tensors keep theirs.
  const Path file = std::filesystem::temp_directory_path() / "attune-gguf-blocks.gguf";
  const GgufFile all = GgufFile::open(golden / "all_types.gguf");
  GgufMetadata metadata;
  metadata.set("general.architecture", GgufValue::text("llama"));
  std::vector<GgufTensor> tensors;
  for (const GgufTensorInfo& one : all.tensors())
    if (const GgufType* type = gguf_type(one.type);
        type->format && std::holds_alternative<QuantisedFormat>(*type->format))
      tensors.push_back({one.name, *type->format, one.shape,
                         [&all, name = one.name]() -> GgufValues { return all.quantised(name); }});
  ASSERT_EQ(tensors.size(), all_quantised_formats.size());
  write_gguf(file, metadata, tensors);
  const Checkpoint checkpoint = Checkpoint::open(file), expected = Checkpoint::open(golden / "all_types.safetensors");
  for (const GgufTensor& one : tensors) {
    EXPECT_EQ(checkpoint.info(one.name).type, DType::F32);
    EXPECT_EQ(checkpoint.info(one.name).quantised, std::get<QuantisedFormat>(one.format));
    EXPECT_EQ(checkpoint.tensor(one.name).to_vector<float>(), expected.tensor(one.name).to_vector<float>()) << one.name;
    EXPECT_EQ(checkpoint.quantised(one.name)->byte_count(), all.quantised(one.name).byte_count());
  }
  EXPECT_FALSE(checkpoint.quantised(checkpoint.names()[0]) == std::nullopt);
  std::filesystem::remove(file);
}

TEST(GgufWeights, RowsOfBlocksMoveAsValuesDo) {
  Tensor values = Tensor::empty({8, 32});
  for (std::int64_t i = 0; i < 256; ++i) values.mutable_data<float>()[i] = static_cast<float>(i / 32);
  QuantisedTensor blocks = QuantisedTensor::empty({8, 32}, QuantisedFormat::Q8_0);
  for (std::int64_t row = 0; row < 8; ++row)
    std::fill_n(blocks.mutable_bytes().data() + row * 34, 34, static_cast<std::byte>(row));
  const GgufHeads heads{2, 1};
  for (GgufChange change : {GgufChange::query_rows, GgufChange::key_rows, GgufChange::grouped_rows}) {
    const Tensor moved = published_values(values, change, heads);
    const QuantisedTensor moved_blocks = published_blocks(blocks, change, heads);
    for (std::int64_t row = 0; row < 8; ++row) {
      const std::int64_t stored = moved_blocks.row_order()->stored[static_cast<std::size_t>(row)];
      EXPECT_EQ(moved.data<float>()[row * 32], static_cast<float>(moved_blocks.data()[stored * 34])) << row;
    }
    EXPECT_EQ(file_values(moved, change, heads).to_vector<float>(), values.to_vector<float>());
  }
  EXPECT_THROW(published_values(values, GgufChange::query_rows, {3, 1}), Error);
  EXPECT_THROW(published_values(values, GgufChange::grouped_rows, {0, 0}), Error);
}

std::string refusal(const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors = {}) {
  const Path file = std::filesystem::temp_directory_path() / "attune-gguf-refused.gguf";
  write_gguf(file, metadata, tensors);
  std::string message;
  try {
    Checkpoint::open(file);
  } catch (const Error& error) {
    message = error.what();
  }
  std::filesystem::remove(file);
  return message;
}

TEST(GgufWeights, WhatIsNotAModelIsNamed) {
  GgufMetadata metadata;
  EXPECT_NE(refusal(metadata).find("no \"general.architecture\""), std::string::npos);
  metadata.set("general.architecture", GgufValue::text("llamma"));
  EXPECT_NE(refusal(metadata).find("\"llamma\": this program reads llama, granite"), std::string::npos);
  metadata.set("general.architecture", GgufValue::text("llama"));
  metadata.set("split.count", GgufValue::u32(3));
  EXPECT_NE(refusal(metadata).find("one of 3 parts"), std::string::npos);
  metadata.set("split.count", GgufValue::u32(1));
  EXPECT_EQ(refusal(metadata), "");
  metadata.set("llama.expert_count", GgufValue::u32(2));
  const Tensor none = Tensor::zeros({1 << 20, 0});
  EXPECT_NE(
      refusal(metadata, {{"blk.0.ffn_up_exps.weight", DType::F32, {1 << 20, 0}, [&]() -> GgufValues { return none; }}})
          .find("expected up to 4096"),
      std::string::npos);
}

}  // namespace
}  // namespace attune
