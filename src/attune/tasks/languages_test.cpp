#include "attune/tasks/languages.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/tasks/translate.h"

namespace attune {
namespace {

/// Words a, b, c; languages; and, as mBART-50 has it, the source's language before a text and </s> behind it.
Tokenizer tokenizer_of(const std::vector<std::string>& languages) {
  Json added = Json::array(), vocabulary = {{"a", 3}, {"b", 4}, {"c", 5}, {"__x__", 6}};
  auto add = [&](const std::string& content, int id, bool special) {
    added.push_back({{"id", id},
                     {"content", content},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", special}});
    vocabulary[content] = id;
  };
  add("<s>", 0, true);
  add("<pad>", 1, true);
  add("</s>", 2, true);
  add("fi_FI", 7, false);  // a word like another
  int id = 8;
  for (const std::string& language : languages) add(language, id++, true);
  Json single = Json::array(), special = Json::object();
  auto token = [&](const std::string& content) {
    single.push_back({{"SpecialToken", {{"id", content}, {"type_id", 0}}}});
    special[content] = {{"id", content}, {"ids", {vocabulary[content]}}, {"tokens", {content}}};
  };
  if (!languages.empty()) token(languages.front());
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
  token("</s>");
  const Json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}}},
      {"decoder", nullptr},
      {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<s>"}}}};
  return Tokenizer::parse(file.dump(), "a test's tokenizer");
}

std::string said(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Languages, AreFoundByWholeNamesAndByBeginningsThatFitOneAlone) {
  const Languages mbart(tokenizer_of({"en_XX", "ro_RO", "zh_CN"})),
      nllb(tokenizer_of({"fra_Latn", "zho_Hans", "zho_Hant"})), m2m(tokenizer_of({"__en__", "__fr__"}));
  EXPECT_EQ(mbart.id_of("ro_RO", "--target-lang"), 9);
  EXPECT_EQ(mbart.id_of("ro", "--target-lang"), 9);
  EXPECT_EQ(nllb.id_of("fra", "--target-lang"), 8);
  EXPECT_EQ(m2m.id_of("fr", "--target-lang"), 9);
  EXPECT_EQ(m2m.id_of("__fr__", "--target-lang"), 9);
  EXPECT_TRUE(mbart.has(10));
  EXPECT_FALSE(mbart.has(7));
  EXPECT_EQ(said([&] { nllb.id_of("zho", "--target-lang"); }),
            "--target-lang \"zho\" may be zho_Hans or zho_Hant: say which");
  EXPECT_EQ(said([&] { mbart.id_of("fi_FI", "--source-lang"); }),
            "--source-lang \"fi_FI\" is not among this model's languages: en_XX, ro_RO, zh_CN");
  EXPECT_EQ(said([&] { Languages(tokenizer_of({})).id_of("fr", "--source-lang"); }),
            "this model's tokenizer has no tokens for languages: leave --source-lang out");
}

Bundle translator(const Tokenizer& tokenizer, const Json& more = Json::object()) {
  Json config = {{"model_type", "m2m_100"},
                 {"architectures", {"M2M100ForConditionalGeneration"}},
                 {"vocab_size", 11},
                 {"d_model", 8},
                 {"encoder_layers", 1},
                 {"decoder_layers", 1},
                 {"encoder_attention_heads", 2},
                 {"decoder_attention_heads", 2},
                 {"encoder_ffn_dim", 8},
                 {"decoder_ffn_dim", 8},
                 {"max_position_embeddings", 20},
                 {"pad_token_id", 1},
                 {"eos_token_id", 2},
                 {"init_std", 0.9}};
  config.update(more);
  Bundle bundle;
  bundle.config = config;
  bundle.tokenizer = tokenizer;
  bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}});
  return bundle;
}

TEST(Languages, ChangeWhatIsReadAndWhatIsWritten) {
  const std::vector<std::string_view> texts = {"a b c"};
  const Bundle bundle = translator(tokenizer_of({"en_XX", "ro_RO", "zh_CN"}));
  auto score = [&](const char* source, const char* target) {
    return translate(bundle, texts, {.max_tokens = 6, .source_language = source, .target_language = target}, {})[0]
        .score;
  };
  EXPECT_EQ(score("en_XX", "ro"), translate(bundle, texts, {.max_tokens = 6, .target_language = "ro_RO"}, {})[0].score);
  EXPECT_NE(score("en", "ro"), score("zh", "ro"));
  EXPECT_NE(score("en", "ro"), score("en", "zh"));
  EXPECT_NE(said([&] { translate(bundle, texts, {}, {}); }).find("give --target-lang, one of en_XX, ro_RO, zh_CN"),
            std::string::npos);
}

/// A model whose files say the language, as the first token or as the one that the decoder begins with.
TEST(Languages, NeedNotBeAskedForWhereTheFilesSayThem) {
  const std::vector<std::string_view> texts = {"a b c"};
  const Tokenizer tokenizer = tokenizer_of({"en_XX", "ro_RO", "zh_CN"});
  const TranslationOptions plain{.max_tokens = 6};
  auto asked = [](const char* language) { return TranslationOptions{.max_tokens = 6, .target_language = language}; };
  const Bundle open = translator(tokenizer), forced = translator(tokenizer, {{"forced_bos_token_id", 9}}),
               begins = translator(tokenizer, {{"decoder_start_token_id", 9}});
  EXPECT_EQ(translate(forced, texts, plain, {})[0].score, translate(open, texts, asked("ro"), {})[0].score);
  EXPECT_EQ(translate(forced, texts, asked("zh"), {})[0].score, translate(open, texts, asked("zh"), {})[0].score);
  const double by_beginning = translate(begins, texts, plain, {})[0].score;
  EXPECT_EQ(translate(begins, texts, asked("ro"), {})[0].score, by_beginning);
  EXPECT_NE(translate(begins, texts, asked("zh"), {})[0].score, by_beginning);
}

}  // namespace
}  // namespace attune
