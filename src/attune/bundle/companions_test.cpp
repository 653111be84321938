// What a model's directory says beside its weights stays with it: saved, written as a GGUF file, and back.
#include "attune/bundle/companions.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/convert.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {
namespace {

class SavedModel : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attune-companions-XXXXXX").string();
    work_ = mkdtemp(name.data());
    TokenizerTraining training{.vocab_size = 280, .special_tokens = {"<pad>", "</s>", "<|user|>"}};
    bool given = false;
    const Tokenizer tokenizer = train_tokenizer(training, [&](std::string& text) {
      text = "the cat sat on the mat";
      return !std::exchange(given, true);
    });
    Bundle bundle;
    const Json config = {{"model_type", "llama"},
                         {"hidden_size", 32},
                         {"intermediate_size", 32},
                         {"num_hidden_layers", 1},
                         {"num_attention_heads", 2},
                         {"vocab_size", tokenizer.limit()},
                         {"max_position_embeddings", 64},
                         {"eos_token_id", 1},
                         {"rms_norm_eps", 1e-5},
                         {"pad_token_id", 0},
                         {"architectures", {"LlamaForCausalLM"}}};
    bundle.config = config;
    bundle.tokenizer = tokenizer;
    bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}});
    make_directories(work_ / "published");
    save_bundle(bundle, work_ / "published");
    write_companions(files_, work_ / "published");
  }
  void TearDown() override { std::filesystem::remove_all(work_); }

  static std::string said(const Bundle& bundle, bool tools = false) {
    const Json user = Json{{"role", "user"}, {"content", "a"}}, tool = Json{{"name", "f"}};
    ChatInput input{.messages = Json::array({user})};
    if (tools) input.tools = Json::array({tool});
    return ChatTemplate::of(bundle.chat).render(input);
  }

  Path work_;
  const Companions files_ = {
      {"tokenizer_config.json",
       R"({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "pad_token": "<pad>"})"},
      {"chat_template.jinja", "{% for m in messages %}<|user|>{{ m.content }}{{ eos_token }}{% endfor %}"},
      {"additional_chat_templates/tool_use.jinja", "{{ tools[0].name }}{{ eos_token }}"},
      {"generation_config.json", R"({"eos_token_id": [1, 2], "do_sample": true, "temperature": 0.5})"}};
};

TEST_F(SavedModel, KeepsTheFilesOfTheModelItCameFrom) {
  const Bundle bundle = load_bundle(work_ / "published");
  make_directories(work_ / "tuned");
  save_bundle(bundle, work_ / "tuned");
  for (const auto& [name, content] : files_) EXPECT_EQ(read_file(work_ / "tuned" / name), content) << name;
  const Bundle again = load_bundle(work_ / "tuned");
  EXPECT_EQ(said(again), "<|user|>a</s>");
  EXPECT_EQ(said(again, true), "f</s>");
  EXPECT_EQ(again.companions, bundle.companions);
}

TEST_F(SavedModel, HowTextIsWrittenIsNotSaidOfAModelThatWritesNone) {
  const Bundle bundle = load_bundle(work_ / "published", {.head = HeadKind::classify, .labels = {"a", "b"}});
  make_directories(work_ / "tuned");
  save_bundle(bundle, work_ / "tuned");
  EXPECT_FALSE(std::filesystem::exists(work_ / "tuned" / "generation_config.json"));
  EXPECT_TRUE(std::filesystem::exists(work_ / "tuned" / "tokenizer_config.json"));
}

TEST_F(SavedModel, WithoutATokenizersConfigItNamesTheClassThatReadsTokenizerJsonAsItStands) {
  std::filesystem::remove(work_ / "published" / "tokenizer_config.json");
  make_directories(work_ / "tuned");
  save_bundle(load_bundle(work_ / "published"), work_ / "tuned");
  EXPECT_EQ(read_json(work_ / "tuned" / "tokenizer_config.json")["tokenizer_class"], "PreTrainedTokenizerFast");
}

TEST_F(SavedModel, ItsTemplatesGoIntoAGgufFileAndBack) {
  convert_to_gguf(work_ / "published", work_ / "model.gguf", DType::F32);
  const Bundle file = load_bundle(work_ / "model.gguf");
  EXPECT_EQ(said(file), "<|user|>a</s>");
  EXPECT_EQ(said(file, true), "f</s>");
  convert_to_directory(work_ / "model.gguf", work_ / "back", DType::F32);
  const Bundle back = load_bundle(work_ / "back");
  EXPECT_EQ(said(back), "<|user|>a</s>");
  EXPECT_EQ(said(back, true), "f</s>");
  // Saved from the file, as a tuned model is.
  make_directories(work_ / "tuned");
  save_bundle(file, work_ / "tuned");
  EXPECT_EQ(said(load_bundle(work_ / "tuned")), "<|user|>a</s>");
}

}  // namespace
}  // namespace attune
