// Texts in, texts out, with models of random weights: what they write means nothing, how it is written does.
#include "attune/tasks/generate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/tasks/generation_settings.h"
#include "attune/tasks/stopped_text.h"
#include "attune/tasks/translate.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {
namespace {

Tokenizer byte_tokenizer(const std::string& end_token) {
  TokenizerTraining training{.vocab_size = 300, .special_tokens = {"<pad>", "</s>"}, .end_token = end_token};
  std::vector<std::string> texts = {"the cat sat on the mat, the rat sat on the cat", "größer, größer"};
  std::size_t next = 0;
  return train_tokenizer(training, [&](std::string& text) {
    if (next == texts.size()) return false;
    text = texts[next++];
    return true;
  });
}

Bundle bundle_of(Json config, const Tokenizer& tokenizer) {
  Bundle bundle;
  config["vocab_size"] = tokenizer.limit();
  config["eos_token_id"] = 1;
  config["pad_token_id"] = 0;
  bundle.config = config;
  bundle.tokenizer = tokenizer;
  bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}});
  bundle.contract.long_policy.longest = 48;
  return bundle;
}

Bundle writer() {
  return bundle_of({{"model_type", "llama"},
                    {"architectures", {"LlamaForCausalLM"}},
                    {"hidden_size", 16},
                    {"intermediate_size", 24},
                    {"num_hidden_layers", 2},
                    {"num_attention_heads", 2},
                    {"initializer_range", 0.5}},
                   byte_tokenizer(""));
}

Bundle translator() {
  return bundle_of({{"model_type", "marian"},
                    {"architectures", {"MarianMTModel"}},
                    {"d_model", 16},
                    {"encoder_layers", 1},
                    {"decoder_layers", 2},
                    {"encoder_attention_heads", 2},
                    {"decoder_attention_heads", 2},
                    {"encoder_ffn_dim", 16},
                    {"decoder_ffn_dim", 16},
                    {"max_position_embeddings", 40},
                    {"decoder_start_token_id", 0},
                    {"init_std", 0.5}},
                   byte_tokenizer("</s>"));
}

const std::vector<std::string_view> prompts = {"the cat", "on", "größer, the rat sat on"};

TEST(Generate, WhatTheSinkIsToldIsTheText) {
  Bundle bundle = writer();
  for (std::int64_t beams : {1, 3}) {
    std::vector<std::string> told(prompts.size());
    TextGeneration options{.max_tokens = 24, .beams = beams};
    std::vector<GeneratedText> texts =
        generate_texts(bundle, prompts, options, {}, [&](std::size_t i, std::string_view piece) { told[i] += piece; });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(texts[i].text, told[i]);
      EXPECT_FALSE(texts[i].text.empty());
      EXPECT_EQ(texts[i].tokens, static_cast<std::int64_t>(bundle.text().encode(prompts[i]).size()));
      EXPECT_LE(texts[i].generated_tokens, 24);
    }
  }
}

TEST(Generate, StopTextEndsTheTextBeforeIt) {
  Bundle bundle = writer();
  TextGeneration options{.max_tokens = 24, .sampling = {.temperature = 1}, .seed = 5};
  std::vector<GeneratedText> whole = generate_texts(bundle, prompts, options, {});
  std::string stop = whole[0].text.substr(whole[0].text.size() / 2, 3);
  options.stop = {"never there", stop};
  std::vector<GeneratedText> cut = generate_texts(bundle, prompts, options, {});
  EXPECT_EQ(cut[0].text, whole[0].text.substr(0, whole[0].text.find(stop)));
  EXPECT_EQ(cut[0].reason, FinishReason::stop);
  EXPECT_LT(cut[0].generated_tokens, whole[0].generated_tokens);
}

TEST(Generate, StopTextEndsItsBeamsToo) {
  const Bundle bundle = writer();
  TextGeneration options{.max_tokens = 24, .beams = 3, .beam_search = {.results = 3}};
  const std::vector<GeneratedText> whole = generate_texts(bundle, prompts, options, {});
  const std::string stop = whole[0].text.substr(whole[0].text.size() / 2, 2);
  options.stop = {stop};
  const std::vector<GeneratedText> cut = generate_texts(bundle, prompts, options, {});
  std::size_t stopped = 0;
  const auto expect_without = [&](const GeneratedText& one) {
    EXPECT_EQ(one.text.find(stop), std::string::npos) << one.text;
    stopped += one.reason == FinishReason::stop && one.generated_tokens < 24;
  };
  for (const GeneratedText& one : cut) {
    expect_without(one);
    for (const GeneratedText& other : one.others) expect_without(other);
  }
  EXPECT_GE(stopped, 1u);
}

TEST(Generate, SeveralResultsAreTheBestOnesInOrder) {
  Bundle bundle = writer();
  TextGeneration options{
      .max_tokens = 8, .beams = 4, .beam_search = {.groups = 2, .diversity_penalty = 0.5, .results = 3}};
  for (const GeneratedText& best : generate_texts(bundle, prompts, options, {})) {
    ASSERT_EQ(best.others.size(), 2u);
    EXPECT_GE(best.score.value(), best.others[0].score.value());
    EXPECT_GE(best.others[0].score.value(), best.others[1].score.value());
  }
  options.beam_search.results = 5;
  EXPECT_THROW(generate_texts(bundle, prompts, options, {}), Error);
  options.beams = 1;
  EXPECT_THROW(generate_texts(bundle, prompts, options, {}), Error);
  const Bundle two = translator();
  const TranslationOptions asked{.beams = 3, .beam_search = {.results = 2}, .max_tokens = 6};
  const std::vector<Translation> found = translate(two, prompts, asked, {});
  ASSERT_EQ(found.size(), prompts.size());
  for (const Translation& best : found) {
    ASSERT_EQ(best.others.size(), 1u);
    EXPECT_GE(best.score, best.others[0].score);
  }
}

TEST(Generate, LongestSequenceIsTheContracts) {
  Bundle bundle = writer();
  std::string prompt = "the cat sat on";
  auto tokens = static_cast<std::int64_t>(bundle.text().encode(prompt).size());
  bundle.contract.long_policy.longest = tokens + 3;
  std::vector<std::string_view> one = {prompt};
  std::vector<GeneratedText> texts = generate_texts(bundle, one, {.max_tokens = 24}, {});
  EXPECT_LE(texts[0].generated_tokens, 3);
  bundle.contract.long_policy.longest = tokens;
  try {
    generate_texts(bundle, one, {}, {});
    FAIL() << "a prompt without room was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(fmt::format("{} tokens and the model takes {}", tokens, tokens)),
              std::string::npos)
        << error.what();
  }
}

TEST(Generate, RefusesWhatItCannotDo) {
  std::vector<std::string_view> empty = {""};
  EXPECT_THROW(generate_texts(writer(), empty, {}, {}), Error);  // no begin token
  EXPECT_THROW(generate_texts(translator(), prompts, {}, {}), Error);
  EXPECT_THROW(translate(writer(), prompts, {}, {}), Error);
  EXPECT_THROW(generate_texts(writer(), prompts, {.sampling = {.temperature = 1}, .beams = 2}, {}), Error);
}

TEST(Translate, ATextHasTheSameTranslationAlone) {
  Bundle bundle = translator();
  std::vector<Translation> together = translate(bundle, prompts, {.max_tokens = 12}, {});
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Translation alone = translate(bundle, std::span(&prompts[i], 1), {.max_tokens = 12}, {})[0];
    EXPECT_EQ(together[i].text, alone.text);
    EXPECT_EQ(together[i].score, alone.score);
    EXPECT_EQ(together[i].alignment, alone.alignment);
    EXPECT_LT(together[i].score, 0);
    auto words = 1 + std::count(prompts[i].begin(), prompts[i].end(), ' ');
    for (auto [source, target] : together[i].alignment) {
      EXPECT_TRUE(source >= 0 && source < words);
      EXPECT_GE(target, 0);
    }
  }
}

TEST(Translate, TooLongATextIsRefusedWithBothNumbers) {
  Bundle bundle = translator();
  std::string longer(60, '#');
  std::vector<std::string_view> one = {longer};
  try {
    translate(bundle, one, {}, {});
    FAIL() << "a text of 61 tokens was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("61 tokens and the model takes 40"), std::string::npos) << error.what();
  }
}

TEST(StoppedText, HoldsBackWhatMayBecomeAStop) {
  StoppedText text({"END", "\n\n"});
  EXPECT_EQ(text.push("abc E"), "abc ");
  EXPECT_EQ(text.push("N"), "");
  EXPECT_EQ(text.push("T\n"), "ENT");
  EXPECT_EQ(text.push("x EN"), "\nx ");
  EXPECT_EQ(text.push("D of it"), "");
  EXPECT_TRUE(text.stopped());
  EXPECT_EQ(text.push("more"), "");
  EXPECT_EQ(text.finish(), "");
  EXPECT_EQ(text.text(), "abc ENT\nx ");
}

TEST(StoppedText, GivesWhatItHeldAtTheEnd) {
  StoppedText text({"END"});
  EXPECT_EQ(text.push("the EN"), "the ");
  EXPECT_EQ(text.finish(), "EN");
  EXPECT_FALSE(text.stopped());
}

class SettingsFile : public testing::Test {
 protected:
  Path directory = std::filesystem::temp_directory_path() / ("attune_settings_" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(directory); }
  void TearDown() override { std::filesystem::remove_all(directory); }
};

TEST_F(SettingsFile, GenerationConfigComesBeforeConfig) {
  Bundle bundle = translator();
  Json config = *bundle.config;
  config["num_beams"] = 6;
  config["bad_words_ids"] = Json::array({Json::array({9})});
  bundle.config = config;
  bundle.path = directory;
  GenerationSettings old = GenerationSettings::read(bundle);
  EXPECT_EQ(old.beams, 6);
  EXPECT_EQ(old.stop_ids, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(old.rules.forbidden_ids, (std::vector<std::int64_t>{9}));
  std::ofstream(directory / "generation_config.json")
      << R"({"num_beams": 3, "eos_token_id": [1, 7], "forced_eos_token_id": 7, "max_length": 20, "length_penalty": 0.5})";
  GenerationSettings now = GenerationSettings::read(bundle);
  EXPECT_EQ(now.beams, 3);
  EXPECT_EQ(now.stop_ids, (std::vector<std::int64_t>{1, 7}));
  EXPECT_EQ(now.forced_stop_id, 7);
  EXPECT_EQ(now.max_length, 20);
  EXPECT_EQ(now.length_penalty, 0.5);
  EXPECT_TRUE(now.rules.forbidden_ids.empty());
  EXPECT_EQ(now.sampling.temperature, 0);
  std::ofstream(directory / "generation_config.json") << R"({"num_beams": "many"})";
  EXPECT_THROW(GenerationSettings::read(bundle), Error);
}

TEST_F(SettingsFile, WhatThePublisherSaidHoldsUnlessTheUserSaysElse) {
  Bundle bundle = translator();
  bundle.path = directory;
  std::ofstream(directory / "generation_config.json")
      << R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.1, "no_repeat_ngram_size": 3,
             "bad_words_ids": [[4], [1], [5, 6]], "suppress_tokens": [7], "begin_suppress_tokens": [8], "min_length": 5,
             "min_new_tokens": 2, "early_stopping": "never", "renormalize_logits": true, "stop_strings": ["END", "."],
             "max_new_tokens": 9, "num_beams": 6, "num_beam_groups": 3, "diversity_penalty": 0.5, "forced_bos_token_id": 2,
             "eos_token_id": 1, "made_up": 3, "epsilon_cutoff": 0.1, "use_cache": true})";
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, const std::string& message) { warnings.push_back(message); });
  const GenerationSettings s = GenerationSettings::read(bundle);
  set_log_sink({});
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("\"epsilon_cutoff\" is 0.1"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("made_up"), std::string::npos) << warnings[1];
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(s.rules.repetition_penalty, 1.1);
  EXPECT_EQ(s.rules.no_repeat_ngram, 3);
  EXPECT_EQ(s.rules.forbidden_ids, (Ids{4, 7}));  // an end token stays possible
  EXPECT_EQ(s.rules.forbidden_sequences, (std::vector<Ids>{{5, 6}}));
  EXPECT_EQ(s.rules.forbidden_first_ids, Ids{8});
  EXPECT_EQ(s.rules.min_length, 5);
  EXPECT_EQ(s.rules.min_tokens, 2);
  EXPECT_EQ(s.early_stopping, EarlyStopping::never);
  EXPECT_TRUE(s.renormalise);
  EXPECT_EQ(s.stop_texts, (std::vector<std::string>{"END", "."}));
  EXPECT_EQ(s.max_new_tokens, 9);
  EXPECT_EQ(s.forced_first_id, 2);
  EXPECT_EQ(s.sampling.temperature, 0.6);
  EXPECT_EQ(s.sampling.top_k, 50);  // transformers' default where a file asks for sampling
  const Sampling mine = SamplingChoice{.top_k = 4, .min_p = 0.1}.over(s.sampling);
  EXPECT_EQ(mine.temperature, 0.6);
  EXPECT_EQ(mine.top_k, 4);
  EXPECT_EQ(mine.top_p, 0.9);
  EXPECT_EQ(mine.min_p, 0.1);
  EXPECT_EQ(SamplingChoice{.temperature = 0}.over(s.sampling).temperature, 0);
  EXPECT_EQ(SamplingChoice{.top_p = 0.5}.over({}).temperature, 1);
  EXPECT_EQ(SamplingChoice{}.over({}).temperature, 0);
  EXPECT_EQ(beam_options(s, 6, {}, {}).groups, 3);
  EXPECT_EQ(beam_options(s, 4, {}, {}).groups, 1);  // another search than the files'
  EXPECT_EQ(beam_options(s, 4, {.groups = 2}, {.min_tokens = 0}).rules.min_length, 0);
  for (const char* wrong : {R"({"early_stopping": "soon"})", R"({"top_p": 0, "do_sample": true})",
                            R"({"repetition_penalty": 0})", R"({"bad_words_ids": [[]]})"}) {
    std::ofstream(directory / "generation_config.json") << wrong;
    EXPECT_THROW(GenerationSettings::read(bundle), Error) << wrong;
  }
}

TEST_F(SettingsFile, TheirLongestAndTheirStopTextsEndATextUnlessMaxTokensIsGiven) {
  Bundle bundle = writer();
  bundle.path = directory;
  const std::vector<std::string_view> one = {"the cat"};
  const auto tokens = static_cast<std::int64_t>(bundle.text().encode(one[0]).size());
  std::ofstream(directory / "generation_config.json") << fmt::format(R"({{"max_length": {}}})", tokens + 3);
  EXPECT_LE(generate_texts(bundle, one, {}, {})[0].generated_tokens, 3);
  EXPECT_EQ(generate_texts(bundle, one, {.max_tokens = 9}, {})[0].generated_tokens, 9);
  std::ofstream(directory / "generation_config.json") << fmt::format(R"({{"max_length": {}}})", tokens);
  EXPECT_THROW(generate_texts(bundle, one, {}, {}), Error);
  const std::string whole = generate_texts(bundle, one, {.max_tokens = 9}, {})[0].text;
  const auto letter = std::ranges::find_if(whole, [](char c) { return c > ' ' && c < 127; });
  ASSERT_NE(letter, whole.end()) << whole;
  const Json stops = {{"stop_strings", {"never there", std::string(1, *letter)}}};
  std::ofstream(directory / "generation_config.json") << stops;
  const GeneratedText cut = generate_texts(bundle, one, {.max_tokens = 9}, {})[0];
  EXPECT_LT(cut.text.size(), whole.size());
  EXPECT_EQ(cut.reason, FinishReason::stop);
}

}  // namespace
}  // namespace attune
