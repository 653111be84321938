#include "attune/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR) / "checkpoint";

class CheckpointFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attune-checkpoint-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void copy_sharded() { std::filesystem::copy(golden / "sharded", directory); }
  void write_index(const std::string& weight_map) {
    write_file_atomically(directory / "model.safetensors.index.json",
                          R"({"metadata":{},"weight_map":)" + weight_map + "}");
  }
  std::string refusal() {
    try {
      Checkpoint::open(directory);
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "opened without an error";
    return "";
  }
  void expect_refused(const std::string& because) {
    std::string message = refusal();
    EXPECT_NE(message.find(because), std::string::npos) << message;
  }

  Path directory;
};

TEST_F(CheckpointFiles, ShardsOfThePythonLibraryAreOneCheckpoint) {
  Checkpoint checkpoint = Checkpoint::open(golden / "sharded");
  EXPECT_EQ(checkpoint.names(), (std::vector<std::string>{"a.f64", "b.f32", "e.i64"}));
  EXPECT_EQ(checkpoint.tensor("e.i64").to_vector<std::int64_t>()[1], 1'000'000'007);
  EXPECT_EQ(checkpoint.info("b.f32").shape, (Shape{3, 2}));
  EXPECT_EQ(checkpoint.metadata().at("total_size"), "120");
  EXPECT_EQ(checkpoint.files().size(), 2u);
  EXPECT_TRUE(checkpoint.contains("a.f64"));
  EXPECT_FALSE(checkpoint.contains("a"));
  EXPECT_THROW(checkpoint.tensor("a"), Error);
  EXPECT_EQ(Checkpoint::open(golden / "sharded" / "model.safetensors.index.json").names().size(), 3u);
  EXPECT_EQ(Checkpoint::open(golden / "all_types.safetensors").names().size(), 11u);
}

TEST_F(CheckpointFiles, WhatIsWrittenInShardsIsReadBack) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 5; ++i) tensors.push_back({"layer." + std::to_string(i), Tensor::full({10}, i)});
  write_sharded(directory, tensors, pytorch_metadata, 100);
  Checkpoint checkpoint = Checkpoint::open(directory);
  EXPECT_EQ(checkpoint.files().size(), 3u);  // two tensors of 40 bytes in each
  EXPECT_EQ(checkpoint.metadata().at("total_size"), "200");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(checkpoint.tensor("layer." + std::to_string(i)).to_vector<float>()[9], i);
  EXPECT_THROW(write_sharded(directory, tensors), Error) << "weights that are there are not mixed with new ones";
}

TEST_F(CheckpointFiles, WhatFitsIntoOneShardIsOneFile) {
  write_sharded(directory, {{"x", Tensor::zeros({3})}, {"y", Tensor::zeros({3})}}, pytorch_metadata, 24);
  EXPECT_TRUE(std::filesystem::exists(directory / "model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(directory / "model.safetensors.index.json"));
  EXPECT_EQ(Checkpoint::open(directory).names().size(), 2u);
}

TEST_F(CheckpointFiles, ADirectoryWithoutWeightsSaysWhatWasSought) {
  expect_refused("neither model.safetensors nor model.safetensors.index.json");
}

TEST_F(CheckpointFiles, AMissingShardIsNamed) {
  copy_sharded();
  std::filesystem::remove(directory / "model-00002-of-00002.safetensors");
  expect_refused("model-00002-of-00002.safetensors");
}

TEST_F(CheckpointFiles, ATensorThatItsShardLacksIsNamed) {
  copy_sharded();
  write_index(R"({"a.f64":"model-00001-of-00002.safetensors","b.f32":"model-00001-of-00002.safetensors",)"
              R"("missing":"model-00001-of-00002.safetensors"})");
  expect_refused("tensor \"missing\" should be in the shard model-00001-of-00002.safetensors");
}

TEST_F(CheckpointFiles, ATensorThatTheIndexLacksIsNamed) {
  copy_sharded();
  write_index(R"({"a.f64":"model-00001-of-00002.safetensors"})");
  expect_refused("holds tensor \"b.f32\"");
}

TEST_F(CheckpointFiles, ShardsLieBesideTheirIndex) {
  for (const char* name :
       {"../outside.safetensors", "/etc/passwd", "sub/x.safetensors", "..", "", "..\\\\x", "a\\u0000b"}) {
    write_index(R"({"a":")" + std::string(name) + "\"}");
    expect_refused("not a plain file name");
  }
}

TEST_F(CheckpointFiles, AnIndexOfTheWrongFormIsRefused) {
  for (const char* map : {"[]", "{}", "null", "\"x\"", R"({"a":5})"}) {
    write_index(map);
    expect_refused("weight_map");
  }
  write_file_atomically(directory / "model.safetensors.index.json", "{\"weight_map\":");
  expect_refused("model.safetensors.index.json");
}

TEST_F(CheckpointFiles, CutAtEverySixteenthIsOneError) {
  write_sharded(directory, {{"x", Tensor::zeros({100})}, {"y", Tensor::zeros({50})}});
  std::string whole = read_file(directory / "model.safetensors");
  for (std::size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    write_file_atomically(directory / "model.safetensors", whole.substr(0, whole.size() * sixteenth / 16));
    expect_refused("model.safetensors");
  }
}

}  // namespace
}  // namespace attune
