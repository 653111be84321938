#include "attune/nn/quantised_weight.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "attune/base/error.h"
#include "attune/checkpoint/gguf.h"
#include "attune/conformance/conformance.h"
#include "attune/kernels/random_blocks.h"
#include "attune/nn/embedding.h"

namespace attune {
namespace {

using namespace conformance;

class QuantisedWeights : public testing::Test {
 protected:
  QuantisedWeights() {
    std::filesystem::create_directories(directory_);
    table_ = kernels::random_blocks({10, 64}, QuantisedFormat::Q8_0);
    weight_ = kernels::random_blocks({7, 256}, QuantisedFormat::Q4_K);
  }
  ~QuantisedWeights() override { std::filesystem::remove_all(directory_); }

  std::shared_ptr<const Checkpoint> blocks() const {
    GgufMetadata metadata;
    metadata.set("general.architecture", GgufValue::text("llama"));
    const Path file = directory_ / "model.gguf";
    write_gguf(file, metadata,
               {{"table.weight", table_.format(), table_.shape(), [this]() -> GgufValues { return table_; }},
                {"layer.weight", weight_.format(), weight_.shape(), [this]() -> GgufValues { return weight_; }},
                {"layer.bias", DType::F32, Shape{7}, [this]() -> GgufValues { return bias_; }}});
    return std::make_shared<const Checkpoint>(Checkpoint::open(file));
  }
  std::shared_ptr<const Checkpoint> numbers(DType type) const {
    const Path file = directory_ / "model.safetensors";
    write_safetensors(file, {{"layer.weight", dequantise(weight_, type)}, {"layer.bias", bias_}});
    return std::make_shared<const Checkpoint>(Checkpoint::open(file));
  }

  const Path directory_ = std::filesystem::temp_directory_path() / "attune-quantised-weights";
  QuantisedTensor table_, weight_;
  const Tensor bias_ = random_tensor({7}, 3), x_ = random_tensor({5, 256}, 4);
};

TEST_F(QuantisedWeights, OfAFileAreUsedAsTheyLieThere) {
  ParameterSet set({.checkpoint = blocks(), .initial = {}}, {});
  const Weights w(set);
  const Embedding table(w / "table", 10, 64);
  const Linear layer(w / "layer", 256, 7);
  table.tied(w, "output.weight");  // which the file does not have
  EXPECT_NO_THROW(set.finish());
  EXPECT_TRUE(same_bits(layer(x_), quantised_linear(x_, weight_, bias_)));
  const Tensor ids = Tensor::from<std::int64_t>({3}, std::vector<std::int64_t>{9, 0, 9});
  EXPECT_TRUE(same_bits(table(ids), quantised_embedding(table_, ids)));
  const Tensor states = random_tensor({2, 64});
  EXPECT_TRUE(same_bits(Linear(table.as_matrix(), {})(states), quantised_linear(states, table_)));
  EXPECT_TRUE(same_bits(table.table(), dequantise(table_)));
  const Parameter* weight = set.find("layer.weight");
  ASSERT_TRUE(weight && weight->blocks);
  EXPECT_FALSE(weight->value.defined());
  EXPECT_THROW(weight->blocks->mutable_bytes(), Error);  // mapped
  EXPECT_TRUE(same_bits(weight->numbers(), dequantise(weight_)));
  EXPECT_EQ(set.count(), 10 * 64 + 7 * 256 + 7);
}

TEST_F(QuantisedWeights, AreNumbersForTheReference) {
  ParameterSet set({.checkpoint = blocks(), .initial = {}, .type = DType::F64}, {});
  const Linear layer(Weights(set) / "layer", 256, 7);
  EXPECT_TRUE(set.find("layer.weight")->value.defined());
  const Tensor exact = layer(x_.to(DType::F64));
  EXPECT_LT(relative_difference(quantised_linear(x_, weight_, bias_), exact), 0.02);
}

TEST_F(QuantisedWeights, SayWhatToDoWhereTheyShouldBeTrained) {
  ParameterSet set({.checkpoint = blocks(), .initial = {}, .trainable = true}, {});
  try {
    Linear(Weights(set) / "layer", 256, 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("q4_k"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("attune convert"), std::string::npos);
  }
}

TEST_F(QuantisedWeights, OfAnotherShapeAreTold) {
  ParameterSet set({.checkpoint = blocks(), .initial = {}}, {});
  const Linear layer(Weights(set) / "layer", 256, 8, {.bias = false});
  try {
    set.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("[7, 256]"), std::string::npos) << error.what();
  }
}

TEST_F(QuantisedWeights, Int8CopiesComeNearAndSayHowNear) {
  const Tensor exact = linear(x_, LinearWeight(dequantise(weight_)), bias_);
  for (DType type : {DType::F32, DType::BF16}) {
    ParameterSet set({.checkpoint = numbers(type), .initial = {}, .linears = LinearFormat::int8}, {});
    const Linear layer(Weights(set) / "layer", 256, 7);
    EXPECT_NO_THROW(set.finish());
    EXPECT_LT(relative_difference(layer(x_), exact), 0.02);
    ASSERT_EQ(set.rounded().size(), 1u);
    EXPECT_EQ(set.rounded()[0].name, "layer.weight");
    EXPECT_GT(set.rounded()[0].error, 1e-4);
    EXPECT_LT(set.rounded()[0].error, 0.02);
    EXPECT_EQ(set.find("layer.weight")->value.dtype(), type);  // as the file has it: no copy in f32
  }
  ParameterSet trained(
      {.checkpoint = numbers(DType::F32), .initial = {}, .trainable = true, .linears = LinearFormat::int8}, {});
  EXPECT_THROW(Linear(Weights(trained) / "layer", 256, 7), Error);
}

}  // namespace
}  // namespace attune
