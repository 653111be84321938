#include "attune/tasks/text_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {
namespace {

Tokenizer byte_tokenizer() {
  TokenizerTraining training{.vocab_size = 300, .special_tokens = {"<pad>", "</s>"}, .end_token = ""};
  bool given = false;
  return train_tokenizer(training, [&](std::string& text) {
    text = "the cat sat on the mat";
    return !std::exchange(given, true);
  });
}

/// A saved model of random weights, as a memory needs one to belong to.
class TextMemoryTest : public testing::Test {
 protected:
  TextMemoryTest() : directory(std::filesystem::temp_directory_path() / ("text_memory." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory);
  }
  ~TextMemoryTest() override { std::filesystem::remove_all(directory); }

  Bundle model(const std::string& name, const Json& attention, std::uint64_t seed = 3) {
    Bundle bundle;
    bundle.tokenizer = byte_tokenizer();
    const Json config = {{"model_type", "attune"},
                         {"architectures", {"AttuneForCausalLM"}},
                         {"hidden_size", 16},
                         {"num_hidden_layers", 2},
                         {"num_attention_heads", 2},
                         {"initializer_range", 0.5},
                         {"num_key_value_heads", 1},
                         {"attention", attention},
                         {"max_position_embeddings", 90},
                         {"vocab_size", bundle.tokenizer->limit()}};
    bundle.config = config;
    bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = seed}});
    std::filesystem::create_directories(directory / name);
    save_bundle(bundle, directory / name);
    return load_bundle(directory / name);
  }
  Bundle knn() { return model("knn", {{"family", "knn"}, {"local", 4}, {"neighbours", 8}}); }

  Path directory;
  const std::vector<NamedText> notes = {
      {"a", "the cat sat on the mat"}, {"b", "größer, größer"}, {"c", "rats and bats"}};
  const std::vector<NamedText> asked = {{"1", "the cat sat on the hat, and the mat"}, {"2", "no"}};
};

std::vector<double> losses(const std::vector<MemoryScore>& scores) {
  std::vector<double> all;
  for (const MemoryScore& s : scores) all.push_back(s.loss), all.push_back(s.loss_without);
  return all;
}

TEST_F(TextMemoryTest, ChangesWhatIsForeseenAndNothingOnceItIsEmpty) {
  const Bundle bundle = knn();
  TextMemory memory(bundle);
  memory.add(notes, {});
  const auto with = memory.score(asked, {});
  for (const MemoryScore& one : with) EXPECT_NE(one.loss, one.loss_without);
  // One text alone has the bits that it has among others.
  EXPECT_EQ(losses(memory.score(std::span(asked).subspan(1), {})),
            (std::vector<double>{with[1].loss, with[1].loss_without}));
  memory.save(directory / "memory.safetensors");
  KeyMemory keys = TextMemory::open(directory / "memory.safetensors");
  for (const char* name : {"b", "a", "c"}) forget_text(keys, name);
  EXPECT_EQ(keys.size(), 0);
  for (const MemoryScore& one : TextMemory(bundle, std::move(keys)).score(asked, {}))
    EXPECT_EQ(one.loss, one.loss_without);
}

TEST_F(TextMemoryTest, ATextThatCannotBeScoredIsLeftOutWithTheReasonAndTheOthersAreScored) {
  const Bundle bundle = knn();
  TextMemory memory(bundle);
  memory.add(notes, {});
  const std::string endless(600, 'x');
  const auto scores =
      memory.score(std::vector<NamedText>{{"short", "o"}, asked[0], {"empty", ""}, {"long", endless}, asked[1]}, {});
  ASSERT_EQ(scores.size(), 5u);
  EXPECT_NE(scores[0].left_out.find("one token"), std::string::npos);
  EXPECT_NE(scores[2].left_out.find("empty"), std::string::npos);
  EXPECT_NE(scores[3].left_out.find("90"), std::string::npos);
  EXPECT_EQ(losses({scores[1], scores[4]}), losses(memory.score(asked, {})));
  EXPECT_THROW(memory.score(std::vector<NamedText>{{"short", "o"}}, {}), Error);
}

TEST_F(TextMemoryTest, TextOfAKnownNameTakesItsPlaceAsIfTheOldOneHadNeverBeen) {
  const Bundle bundle = knn();
  TextMemory edited(bundle), fresh(bundle);
  edited.add(notes, {});
  edited.add(std::vector<NamedText>{{"a", "quite another text"}}, {});
  fresh.add(std::vector<NamedText>{notes[1], notes[2], {"a", "quite another text"}}, {});
  EXPECT_EQ(losses(edited.score(asked, {})), losses(fresh.score(asked, {})));
  EXPECT_EQ(remembered_texts(edited.keys()).size(), 3u);
}

TEST_F(TextMemoryTest, IsFiledWithItsNamesAndForgetsThem) {
  const Bundle bundle = knn();
  TextMemory memory(bundle);
  memory.add(notes, {});
  const Path file = directory / "memory.safetensors";
  memory.save(file);
  KeyMemory keys = TextMemory::open(file);
  const auto texts = remembered_texts(keys);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[1].name, "b");
  EXPECT_EQ(texts[0].tokens + texts[1].tokens + texts[2].tokens, keys.size());
  EXPECT_EQ(losses(TextMemory(bundle, TextMemory::open(file)).score(asked, {})), losses(memory.score(asked, {})));
  forget_text(keys, "b");
  EXPECT_THROW(forget_text(keys, "b"), Error);
  keys.save(file);
  EXPECT_EQ(remembered_texts(TextMemory::open(file)).size(), 2u);
}

TEST_F(TextMemoryTest, RefusesWhatDoesNotBelongTogether) {
  const Bundle bundle = knn(), full = model("full", {{"family", "full"}});
  EXPECT_THROW(TextMemory{full}, Error);
  TextMemory memory(bundle);
  memory.add(notes, {});
  const Path file = directory / "memory.safetensors";
  memory.save(file);
  const Bundle other = model("other", {{"family", "knn"}, {"local", 4}}, 4);
  EXPECT_THROW(TextMemory(other, TextMemory::open(file)), Error);
  const std::string long_text(200, 'x');
  const std::int64_t before = memory.keys().size();
  EXPECT_THROW(memory.add(std::vector<NamedText>{{"d", "fine"}, {"e", long_text}}, {}), Error);
  EXPECT_THROW(memory.add(std::vector<NamedText>{{"d", "one"}, {"d", "two"}}, {}), Error);
  EXPECT_EQ(memory.keys().size(), before);
}

}  // namespace
}  // namespace attune
