// The public functions give what the tasks give (and these, what other programs gave), from one thread or several.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include "attune/base/json_values.h"

#include "attune/api/attune.h"
#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/base/threads.h"
#include "attune/tasks/classify.h"
#include "attune/tasks/embed.h"
#include "attune/tasks/generate.h"
#include "attune/tasks/translate.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {
namespace {

using Texts = std::vector<std::string>;

const Path goldens = ATTUNE_GOLDEN_DIR;
const Path sentences = goldens / "sentence_embeddings" / "older_files";

std::vector<std::string_view> views(const Texts& texts) { return {texts.begin(), texts.end()}; }

template <class Work>
std::string said(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Tokenizer some_tokenizer() {
  TokenizerTraining training{.vocab_size = 300, .special_tokens = {"<pad>", "</s>"}, .end_token = ""};
  Texts texts = {"the cat sat on the mat, the rat sat on the cat", "größer, größer"};
  std::size_t next = 0;
  return train_tokenizer(training, [&](std::string& text) {
    if (next == texts.size()) return false;
    text = texts[next++];
    return true;
  });
}

/// Models of random weights, saved: what they say means nothing, that it is the same does.
class Api : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override {
    set_log_sink({});
    std::filesystem::remove_all(directory_);
  }

  Path saved(const std::string& name, Json config) {
    Bundle bundle;
    bundle.tokenizer = some_tokenizer();
    config["vocab_size"] = bundle.tokenizer->limit();
    config["pad_token_id"] = 0;
    config["eos_token_id"] = 1;
    bundle.config = config;
    bundle.model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}});
    bundle.contract.long_policy.longest = 40;
    if (bundle.model->facts().head == HeadKind::classify) bundle.contract.labels = labels_of(config, "test");
    std::filesystem::create_directories(directory_ / name);
    save_bundle(bundle, directory_ / name);
    return directory_ / name;
  }

  Path writer() {
    return saved("writer", {{"model_type", "llama"},
                            {"architectures", {"LlamaForCausalLM"}},
                            {"hidden_size", 16},
                            {"intermediate_size", 24},
                            {"num_hidden_layers", 2},
                            {"num_attention_heads", 2},
                            {"initializer_range", 0.5}});
  }
  Path translator() {
    return saved("translator", {{"model_type", "marian"},
                                {"architectures", {"MarianMTModel"}},
                                {"d_model", 16},
                                {"encoder_layers", 1},
                                {"decoder_layers", 1},
                                {"encoder_attention_heads", 2},
                                {"decoder_attention_heads", 2},
                                {"encoder_ffn_dim", 16},
                                {"decoder_ffn_dim", 16},
                                {"max_position_embeddings", 40},
                                {"decoder_start_token_id", 0},
                                {"init_std", 0.5}});
  }
  Path classifier() {
    return saved("classifier", {{"model_type", "bert"},
                                {"architectures", {"BertForSequenceClassification"}},
                                {"hidden_size", 16},
                                {"num_hidden_layers", 1},
                                {"num_attention_heads", 2},
                                {"intermediate_size", 32},
                                {"max_position_embeddings", 40},
                                {"initializer_range", 0.3},
                                {"id2label", {{"0", "even"}, {"1", "odd"}}}});
  }

  const Path directory_ = std::filesystem::temp_directory_path() / ("attune_api_" + std::to_string(::getpid()));
};

TEST_F(Api, EmbeddingsAreSentenceTransformers) {
  for (const char* name : {"older_files", "prompts_not_pooled"}) {
    const LoadedModel model = LoadedModel::open(goldens / "sentence_embeddings" / name);
    const Json expected = read_json(goldens / "sentence_embeddings" / name / "expected.json");
    const auto texts = expected["texts"].get<Texts>();
    for (const auto& [prompt, embeddings] : expected["embeddings"].items()) {
      EmbedSettings settings;
      if (!prompt.empty()) settings.prompt_name = prompt;
      const std::vector<Embedded> ours = model.embed(texts, settings);
      ASSERT_EQ(ours.size(), texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        ASSERT_EQ(ours[i].values.size(), embeddings[i].size());
        for (std::size_t c = 0; c < ours[i].values.size(); ++c)
          EXPECT_NEAR(ours[i].values[c], embeddings[i][c].get<float>(), 1e-5) << name << ", " << prompt;
        EXPECT_GT(ours[i].tokens, 0);
      }
    }
  }
}

TEST_F(Api, AClassifierEmbedsAsItDoesWithoutItsHead) {
  const Path path = classifier();
  const Texts texts = {"the cat", "sat on the mat"};
  const std::vector<Embedded> ours = LoadedModel::open(path).embed(texts);
  const std::vector<TextEmbedding> bare = embed(load_embedder(path), views(texts), {}, {});
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(ours[i].values, bare[i].values);
}

TEST_F(Api, ClassesAreTheTasks) {
  const Path path = classifier();
  const LoadedModel model = LoadedModel::open(path);
  const Texts texts = {"the cat", "sat on the mat", "größer"};
  const std::vector<Labelled> ours = model.classify(texts);
  const std::vector<Classified> theirs = classify(load_classifier(path), views(texts), {});
  ASSERT_EQ(ours.size(), texts.size());
  EXPECT_EQ(model.labels(), (Texts{"even", "odd"}));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(ours[i].label, theirs[i].label);
    EXPECT_EQ(ours[i].confidence, theirs[i].confidence);
    ASSERT_EQ(ours[i].scores.size(), 2u);
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(ours[i].scores[c].first, model.labels()[c]);
      EXPECT_EQ(ours[i].scores[c].second, theirs[i].probabilities[c]);
    }
    EXPECT_FALSE(ours[i].automatic);
    EXPECT_EQ(ours[i].reasons, Texts{"not_calibrated"});
    EXPECT_EQ(ours[i].tokens, model.count_tokens(texts[i]));
  }
}

TEST_F(Api, EntitiesAreTransformersWithTheTextWhereTheyStand) {
  const Path path = goldens / "token_tasks" / "entities_word_piece";
  const LoadedModel model = LoadedModel::open(path);
  EXPECT_FALSE(model.labels().empty());
  const Json expected = read_json(path / "expected.json");
  const auto texts = expected["texts"].get<Texts>();
  std::size_t compared = 0;
  for (const auto& [grouping, lists] : expected["entities"].items()) {
    const std::vector<Tagged> ours = model.tag(texts, {.grouping = grouping});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(ours[i].entities.size(), lists[i].size());
      for (std::size_t e = 0; e < lists[i].size(); ++e, ++compared) {
        const Tagged::Entity& entity = ours[i].entities[e];
        EXPECT_EQ(entity.label, lists[i][e][0]);
        EXPECT_EQ(entity.begin, lists[i][e][1]);
        EXPECT_EQ(entity.end, lists[i][e][2]);
        EXPECT_NEAR(entity.score, lists[i][e][3].get<double>(), 1e-4);
        EXPECT_TRUE(has(texts[i], entity.text) && !entity.text.empty()) << entity.text;
      }
    }
  }
  EXPECT_GT(compared, 20u);
}

TEST_F(Api, AnswersAreTheLikeliestStretches) {
  const Path path = goldens / "token_tasks" / "answers";
  const LoadedModel model = LoadedModel::open(path);
  for (const Json& one : read_json(path / "expected.json")) {
    const auto question = one["question"].get<std::string>(), text = one["text"].get<std::string>();
    AnswerSettings settings{.most_tokens = one["most"].get<std::int64_t>()};
    const Answered found = model.answer(question, {text}, settings).front();
    EXPECT_EQ(found.begin, one["start"]) << question;
    EXPECT_EQ(found.end, one["end"]) << question;
    EXPECT_NEAR(found.score, one["score"].get<double>(), 1e-4) << question;
    EXPECT_TRUE(has(text, found.text));
    settings.may_have_none = true;
    EXPECT_EQ(model.answer(question, {text}, settings).front().text.empty(), one["with_none"]["none_wins"].get<bool>());
  }
}

TEST_F(Api, TextsAreTheTasksAndComePieceByPiece) {
  const Path path = writer();
  const LoadedModel model = LoadedModel::open(path);
  const Bundle bundle = load_bundle(path);
  for (const WriteSettings& settings :
       {WriteSettings{.max_tokens = 20}, WriteSettings{.max_tokens = 20, .temperature = 0.9, .top_p = 0.9, .seed = 7},
        WriteSettings{.max_tokens = 12, .beams = 3}}) {
    const TextGeneration same{.max_tokens = settings.max_tokens,
                              .sampling = {.temperature = settings.temperature, .top_p = settings.top_p},
                              .beams = settings.beams,
                              .seed = settings.seed};
    const std::string_view prompt = "the cat";
    const GeneratedText theirs = generate_texts(bundle, std::span(&prompt, 1), same, {}).front();
    std::string told;
    const Written ours = model.generate("the cat", settings, [&](std::string_view piece) { told += piece; });
    EXPECT_EQ(ours.text, theirs.text);
    EXPECT_EQ(told, ours.text);
    EXPECT_EQ(ours.generated_tokens, theirs.generated_tokens);
    EXPECT_EQ(ours.finish_reason, name_of(theirs.reason));
    EXPECT_EQ(model.generate("the cat", settings).text, ours.text) << "without anyone to tell";
  }
}

TEST_F(Api, WhatTheListenerThrowsEndsTheWriting) {
  const LoadedModel model = LoadedModel::open(writer());
  struct Enough {};
  int pieces = 0;
  const auto listener = [&](std::string_view) {
    if (++pieces == 2) throw Enough();
  };
  EXPECT_THROW(model.generate("the cat", {.max_tokens = 30}, listener), Enough);
  EXPECT_EQ(pieces, 2);
  EXPECT_GT(model.generate("the cat", {.max_tokens = 30}).generated_tokens, 2) << "the model can be used on";
}

TEST_F(Api, TranslationsAreTheTasks) {
  const Path path = translator();
  const LoadedModel model = LoadedModel::open(path);
  const Texts texts = {"the cat", "größer, the rat"};
  const std::vector<Translated> ours = model.translate(texts, {.max_tokens = 10, .beams = 2});
  const std::vector<Translation> theirs =
      translate(load_bundle(path), views(texts), {.beams = 2, .max_tokens = 10}, {});
  ASSERT_EQ(ours.size(), 2u);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(ours[i].text, theirs[i].text);
    EXPECT_EQ(ours[i].score, theirs[i].score);
    EXPECT_EQ(ours[i].alignment, theirs[i].alignment);
    EXPECT_EQ(ours[i].finish_reason, name_of(theirs[i].reason));
  }
}

TEST_F(Api, MisuseSaysWhatTheModelCanDo) {
  const LoadedModel labels = LoadedModel::open(classifier()), writes = LoadedModel::open(writer()),
                    turns = LoadedModel::open(translator()), plain = LoadedModel::open(sentences);
  EXPECT_EQ(labels.abilities(), (Texts{"classify", "embed"}));
  EXPECT_EQ(writes.abilities(), (Texts{"generate", "embed"}));
  EXPECT_EQ(turns.abilities(), Texts{"translate"});
  EXPECT_EQ(plain.abilities(), Texts{"embed"});
  EXPECT_TRUE(has(said([&] { labels.generate("the"); }),
                  "can not generate: it is a BertForSequenceClassification, "
                  "which can classify and embed"));
  EXPECT_TRUE(has(said([&] { turns.embed({"the"}); }), "can not embed: it is a MarianMTModel, which can translate"));
  EXPECT_TRUE(has(said([&] { writes.translate({"the"}); }), "which can generate and embed"));
  EXPECT_TRUE(has(said([&] { writes.tag({"the"}); }), "can not tag"));
  EXPECT_TRUE(has(said([&] { writes.answer("the?", {"the"}); }), "can not answer"));
  EXPECT_TRUE(has(said([&] { plain.classify({"the"}); }), "without a head, which can embed"));
}

TEST_F(Api, ErrorsSayWhatAndWhere) {
  EXPECT_TRUE(has(said([&] { LoadedModel::open(directory_ / "nothing"); }), "there is no such model directory"));
  const LoadedModel model = LoadedModel::open(classifier());
  std::string longer;
  for (int i = 0; i < 30; ++i) longer += "größer, ";
  EXPECT_TRUE(has(said([&] { model.classify({"the", longer}); }), "text 2"));
  EXPECT_TRUE(has(said([&] { model.classify({longer}); }), "40"));
  EXPECT_GT(model.classify({longer}, LongTexts::chunk).front().chunks, 1);
  EXPECT_TRUE(has(said([&] { model.classify({"the"}, LongTexts::stride); }), "LongTexts::chunk"));
  EXPECT_TRUE(has(said([&] { model.embed({"the"}, {.pooling = "sum"}); }), "lasttoken"));
  EXPECT_TRUE(has(said([&] { model.embed({"the"}, {.prompt_name = "query"}); }), "no prompt \"query\""));
  EXPECT_NE(said([&] { use_threads(-1); }), "no error");
  const LoadedModel tagger = LoadedModel::open(goldens / "token_tasks" / "entities_word_piece");
  EXPECT_TRUE(has(said([&] { tagger.tag({"ada"}, {.grouping = "last"}); }), "average"));
}

TEST_F(Api, NoTextsGiveNoResultsAndAnEmptyTextOneOrAnErrorThatNamesIt) {
  const LoadedModel labels = LoadedModel::open(classifier()), writes = LoadedModel::open(writer()),
                    turns = LoadedModel::open(translator()), embeds = LoadedModel::open(sentences),
                    tags = LoadedModel::open(goldens / "token_tasks" / "entities_word_piece"),
                    answers = LoadedModel::open(goldens / "token_tasks" / "answers");
  EXPECT_TRUE(embeds.embed({}).empty());
  EXPECT_TRUE(labels.classify({}).empty());
  EXPECT_TRUE(tags.tag({}).empty());
  EXPECT_TRUE(answers.answer("who?", {}).empty());
  EXPECT_TRUE(turns.translate({}).empty());
  EXPECT_EQ(embeds.embed({""}).front().tokens, 2) << "the special tokens";
  EXPECT_TRUE(tags.tag({""}).front().entities.empty());
  EXPECT_TRUE(has(said([&] { answers.answer("who?", {"ada", ""}); }), "2"));
  const std::string why = said([&] { labels.classify({"the", ""}); });
  EXPECT_TRUE(has(why, "text 2")) << why;
  EXPECT_TRUE(has(said([&] { writes.generate(""); }), "an empty prompt"));
}

TEST_F(Api, SeveralThreadsUseOneModelAndOpenOthers) {
  const Path written = writer(), labelled = classifier();
  const LoadedModel writes = LoadedModel::open(written), labels = LoadedModel::open(labelled);
  const Texts texts = {"the cat", "sat on the mat", "größer", "the rat"};
  const Written text = writes.generate("the cat", {.max_tokens = 16, .temperature = 1, .seed = 4});
  const std::vector<Labelled> classes = labels.classify(texts);
  // None of the weights is packed, no mask made yet: the first calls do that side by side.
  const LoadedModel fresh_writes = LoadedModel::open(written), fresh_labels = LoadedModel::open(labelled);
  use_threads(2);
  std::vector<std::string> faults(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < faults.size(); ++t)
    threads.emplace_back([&, t] {
      faults[t] = said([&] {
        for (int round = 0; round < 3; ++round) {
          const Written ours = fresh_writes.generate("the cat", {.max_tokens = 16, .temperature = 1, .seed = 4});
          check(ours.text == text.text, "another text");
          const std::vector<Labelled> again = fresh_labels.classify(texts);
          for (std::size_t i = 0; i < texts.size(); ++i) check(again[i].scores == classes[i].scores, "other scores");
          check(LoadedModel::open(t % 2 ? written : labelled).embed({"the cat"}).size() == 1, "no embedding");
          if (t == 0) use_threads(round + 1);
        }
      });
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "no error");
  use_threads(0);
}

TEST_F(Api, ResultsDoNotDependOnTheNumberOfThreads) {
  const LoadedModel model = LoadedModel::open(sentences);
  const int before = num_threads();
  std::vector<std::vector<float>> values;
  for (int threads : {1, 3, 0}) {
    use_threads(threads);
    values.push_back(model.embed({"the patient has pain"}).front().values);
  }
  EXPECT_EQ(values[0], values[1]);
  EXPECT_EQ(values[0], values[2]);
  EXPECT_EQ(num_threads(), before);
}

TEST_F(Api, WarningsGoWhereTheyAreSentAndNowhereElse) {
  const Path path = writer();
  std::ofstream(path / "generation_config.json") << R"({"do_sample": true, "num_beams": 2})";
  const LoadedModel model = LoadedModel::open(path);
  Texts told;
  tell_warnings([&](const std::string& warning) { told.push_back(warning); });
  log_info("not a warning");
  model.generate("the cat", {.max_tokens = 2});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(has(told[0], "beam search does not sample")) << told[0];
  tell_warnings({});
  model.generate("the cat", {.max_tokens = 2});
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(Api, FactsAreTheModels) {
  const LoadedModel model = LoadedModel::open(classifier());
  EXPECT_EQ(model.model_type(), "bert");
  EXPECT_EQ(model.longest(), 40);
  LoadedModel other = LoadedModel::open(sentences);
  EXPECT_TRUE(other.labels().empty());
  ASSERT_TRUE(other.longest().has_value());
  std::string text;
  while (other.count_tokens(text) <= *other.longest()) text += "pain ";
  EXPECT_THROW(other.embed({text}), Error) << "one token more than the longest";
  other = LoadedModel::open(writer());
  EXPECT_EQ(other.model_type(), "llama");
  EXPECT_EQ(std::ranges::count(version(), '.'), 2) << version();
}

}  // namespace
}  // namespace attune
