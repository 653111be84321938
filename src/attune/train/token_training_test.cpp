// Taggers and models that answer, trained from texts: tests/golden/token_tasks (made by tools/golden/token_tasks.py)
// and texts made here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/tasks/answer.h"
#include "attune/tasks/tag.h"
#include "attune/train/learn.h"
#include "attune/train/task_data.h"

namespace attune {
namespace {

const Path goldens = Path(ATTUNE_GOLDEN_DIR) / "token_tasks";

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "attune_token_training_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Path operator/(const std::string& name) const { return path_ / name; }

 private:
  Path path_;
};

/// Log lines of warnings, while it lives.
class Warnings {
 public:
  Warnings() {
    set_log_sink([this](LogLevel level, const std::string& message) {
      if (level == LogLevel::warning) text += message + "\n";
    });
  }
  ~Warnings() { set_log_sink({}); }
  std::string text;
};

std::string lines_of(const Json& records) {
  std::string lines;
  for (const Json& record : records) lines += to_text(record) + "\n";
  return lines;
}

/// A run of few steps over records, or over lines of ids.
Json run_of(const std::string& task, const Path& data, const Path& model) {
  return {{"task", task},
          {"data", {{"train", data.string()}}},
          {"model", {{"from", model.string()}}},
          {"train", {{"max_steps", 3}, {"batch_size", 2}, {"order", "sequential"}, {"warmup_steps", 0}}}};
}

/// The examples that a run would learn from.
std::vector<Example> examples_of(const Json& run, const Path& model) {
  const RunConfig config = RunConfig::read(run, "test");
  const RunFiles files = read_run_files(config);
  Bundle bundle = load_bundle(model);
  bundle.contract.long_policy = config.long_policy;
  const TaskData data = make_task_data(files, config, bundle, {});
  std::vector<Example> examples;
  for (std::int64_t i = 0; i < data.train->count(); ++i) examples.push_back(data.train->example(i, {}));
  return examples;
}

std::vector<double> losses(const Json& run, const Path& output) {
  std::vector<double> losses;
  for (const StepRecord& step : learn(RunConfig::read(run, "test"), output, false, {}).history)
    losses.push_back(step.loss);
  return losses;
}

/// The losses of the same run over the ids of its examples.
std::vector<double> losses_of_ids(Json run, const std::vector<Example>& examples, const Scratch& scratch) {
  Json lines = Json::array();
  for (const Example& e : examples) {
    lines.push_back({{"ids", e.chunks[0]}, {"labels", e.labels}});
    if (!e.type_ids.empty()) lines.back()["token_type_ids"] = e.type_ids;
  }
  write_file_atomically(scratch / "ids.jsonl", lines_of(lines));
  run["data"] = {{"train", (scratch / "ids.jsonl").string()}};
  return losses(run, scratch / "run_ids");
}

class TaggingFromText : public testing::TestWithParam<std::string> {};

TEST_P(TaggingFromText, TokensHaveTheLabelsOfTransformersExampleAndTheLossIsThatOfTheirIds) {
  const Path model = goldens / GetParam();
  const Json cases = read_json(model / "labels.json");
  Scratch scratch;
  Json records = Json::array();
  for (const Json& one : cases) records.push_back({{"text", one["text"]}, {"entities", one["entities"]}});
  write_file_atomically(scratch / "texts.jsonl", lines_of(records));
  const Json run = run_of("tag", scratch / "texts.jsonl", model);
  const std::vector<Example> examples = examples_of(run, model);
  ASSERT_EQ(examples.size(), cases.size());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    EXPECT_EQ(examples[i].chunks[0], cases[i]["ids"].get<std::vector<std::int64_t>>()) << cases[i]["text"];
    EXPECT_EQ(examples[i].labels, cases[i]["labels"].get<std::vector<std::int64_t>>()) << cases[i]["text"];
  }
  EXPECT_EQ(losses(run, scratch / "run"), losses_of_ids(run, examples, scratch));
}

INSTANTIATE_TEST_SUITE_P(Models, TaggingFromText, testing::Values("entities_word_piece", "entities_byte_bpe"));

class AnsweringWindows : public testing::TestWithParam<std::string> {};

TEST_P(AnsweringWindows, HaveThePlacesOfTransformersExampleAndTheLossIsThatOfTheirIds) {
  const Path model = goldens / GetParam();
  const Json golden = read_json(model / "labels.json");
  Scratch scratch;
  write_file_atomically(scratch / "questions.jsonl", lines_of(golden["questions"]));
  Json run = run_of("answer", scratch / "questions.jsonl", model);
  run["long"] = {{"longest", golden["longest"]}};
  const std::vector<Example> examples = examples_of(run, model);
  std::size_t next = 0;
  for (const Json& question : golden["questions"])
    for (const Json& window : question["windows"]) {
      ASSERT_LT(next, examples.size());
      const Example& example = examples[next++];
      EXPECT_EQ(example.chunks[0], window["ids"].get<std::vector<std::int64_t>>()) << question["question"];
      EXPECT_EQ(example.type_ids, window["token_type_ids"].get<std::vector<std::int64_t>>()) << question["question"];
      EXPECT_EQ(example.labels, window["labels"].get<std::vector<std::int64_t>>()) << question["question"];
    }
  EXPECT_EQ(next, examples.size());
  EXPECT_GT(next, 15u);
  EXPECT_EQ(losses(run, scratch / "run"), losses_of_ids(run, examples, scratch));
}

INSTANTIATE_TEST_SUITE_P(Models, AnsweringWindows, testing::Values("answers", "answers_of_big_bird"));

/// Words are tokens; "?" is a token of its own.
Encoding words_of(const std::string& text) {
  Encoding encoding;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    encoding.ids.push_back(5);
    encoding.offsets.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
    begin = end + 1;
  }
  return encoding;
}

TEST(LabelTokens, EntitiesThatTokensDoNotFitAreNamed) {
  const std::vector<std::string> names = {"O", "B-DAY", "I-DAY", "B-PER", "I-PER"};
  const std::string text = "on 12May2020 Ada-Lovelace came";
  // "12" alone of the first; both halves of one token; "came" as it is.
  const Entities entities = {{"DAY", 3, 5}, {"PER", 13, 16}, {"PER", 17, 25}, {"DAY", 26, 30}};
  const TokenLabels found = label_tokens(text, words_of(text), entities, names);
  EXPECT_EQ(found.labels, (std::vector<std::int64_t>{0, 1, 3, 1}));
  EXPECT_EQ(found.inexact, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(found.unlearned, (std::vector<std::size_t>{2}));
}

TEST(LabelTokens, WhiteSpaceAtATokensEdgeIsNoneOfIt) {
  Encoding encoding;
  encoding.ids = {5, 5, 5};
  encoding.offsets = {{0, 3}, {3, 7}, {7, 12}};  // "met", " Ada", " Love"
  const TokenLabels found = label_tokens("met Ada Love", encoding, {{"PER", 4, 12}}, {"O", "B-PER", "I-PER"});
  EXPECT_EQ(found.labels, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(found.inexact.empty() && found.unlearned.empty());
}

TEST(TaggingFromText, EntitiesWithABorderInsideATokenAreCountedAloud) {
  Scratch scratch;
  const Path model = goldens / "entities_word_piece";
  write_file_atomically(
      scratch / "texts.jsonl",
      "\n{\"text\": \"ada met babbage\", \"entities\": [{\"start\": 0, \"end\": 2, \"label\": \"PER\"}]}\n");
  Warnings warnings;
  examples_of(run_of("tag", scratch / "texts.jsonl", model), model);
  EXPECT_NE(warnings.text.find("1 entity with a border inside a token"), std::string::npos) << warnings.text;
  EXPECT_NE(warnings.text.find("line 2, \"ad\" (PER)"), std::string::npos) << warnings.text;
}

TEST(AnsweringFromText, AnswersThatWindowsOrTokensDoNotFitAreCountedAloud) {
  Scratch scratch;
  const Path model = goldens / "answers";
  std::string text;
  for (int i = 0; i < 9; ++i) text += "ada met ";
  const Json records = {{{"question", "who"}, {"context", text}, {"answers", {{{"text", text}, {"start", 0}}}}},
                        {{"question", "who"}, {"context", "ada met"}, {"answers", {{{"text", "da"}, {"start", 1}}}}}};
  write_file_atomically(scratch / "questions.jsonl", lines_of(records));
  Json run = run_of("answer", scratch / "questions.jsonl", model);
  run["long"] = {{"longest", 12}};
  Warnings warnings;
  examples_of(run, model);
  EXPECT_NE(warnings.text.find("1 answers begin or end inside a token"), std::string::npos) << warnings.text;
  EXPECT_NE(warnings.text.find("line 2, \"da\""), std::string::npos) << warnings.text;
  EXPECT_NE(warnings.text.find("1 answers lie whole in none"), std::string::npos) << warnings.text;
}

struct BadLine {
  std::string task, line, words;
};

TEST(TokenTraining, MarksThatDoNotFitTheTextAreErrorsWithTheLine) {
  const std::vector<BadLine> bad = {
      {"tag", R"({"text": "ada"})", "there is no \"entities\""},
      {"tag", R"({"text": "ada", "entities": "PER"})", "\"entities\""},
      {"tag", R"({"text": "ada", "entities": {"start": 0}})", "expected a list"},
      {"tag", R"({"text": "ada", "entities": ["B-PER"]})", "expected {\"start\": 0"},
      {"tag", R"({"text": "ada", "entities": [{"start": 0, "end": 4, "label": "PER"}]})", "3 code points"},
      {"tag", R"({"text": "ada", "entities": [{"start": 2, "end": 2, "label": "PER"}]})", "from 2 to 2"},
      {"tag", R"({"text": "ada", "entities": [{"start": -1, "end": 2, "label": "PER"}]})", "\"start\" is -1"},
      {"tag", R"({"text": "ada", "entities": [{"start": 0, "end": 9223372036854775808, "label": "PER"}]})", "\"end\""},
      {"tag", R"({"text": "ada", "entities": [{"start": 0.5, "end": 2, "label": "PER"}]})", "\"start\" is 0.5"},
      {"tag", R"({"text": "ada", "entities": [{"start": 0, "end": 2, "label": "B-PER"}]})", "kind of entity alone"},
      {"tag", R"({"text": "ada", "entities": [{"start": 0, "end": 2, "label": ""}]})", "kind of entity alone"},
      {"tag", R"({"text": "ada", "entities": [{"start": 0, "end": 2, "label": "PER", "text": "da"}]})", "said to be"},
      {"tag",
       R"({"text": "ada met", "entities": [{"start": 2, "end": 7, "label": "B"}, {"start": 0, "end": 3, "label": "A"}]})",
       "0 to 3 (A) and 2 to 7 (B) overlap"},
      {"answer", R"({"context": "ada", "answers": []})", "there is no \"question\""},
      {"answer", R"({"context": "ada", "question": " ", "answers": []})", "\"question\" is empty"},
      {"answer", R"({"context": "ada", "question": "who"})", "there is no \"answers\""},
      {"answer", R"({"context": "ada", "question": "who", "answers": null})", "there is no \"answers\""},
      {"answer", R"({"context": "ada", "question": "who", "answers": ["ada"]})", "expected [{\"text\""},
      {"answer", R"({"context": "ada", "question": "who", "answers": [{"text": "ad", "start": 1}]})",
       "and \"da\" is there"},
      {"answer", R"({"context": "ada", "question": "who", "answers": [{"text": "a", "start": 3}]})",
       "and \"\" is there"},
      {"answer", R"({"context": "ada", "question": "who", "answers": [{"text": "", "start": 0}]})", "an answer's text"},
      {"answer", R"({"context": "ada", "question": "who", "answers": {"text": ["ada"], "answer_start": []}})",
       "expected [{"},
  };
  for (const BadLine& one : bad) {
    Scratch scratch;
    const std::string good = one.task == "tag" ? R"({"text": "ada", "entities": []})"
                                               : R"({"context": "ada", "question": "who", "answers": []})";
    write_file_atomically(scratch / "bad.jsonl", good + "\n" + one.line + "\n");
    try {
      read_run_files(RunConfig::read(run_of(one.task, scratch / "bad.jsonl", "model"), "test"));
      ADD_FAILURE() << "no error for " << one.line;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("bad.jsonl, line 2: "), std::string::npos) << message;
      EXPECT_NE(message.find(one.words), std::string::npos) << message;
    }
  }
}

TEST(TokenTraining, KeysOfAnotherTaskAreErrors) {
  for (const char* key : {"entities_field", "answers_field", "question_field"}) {
    Json run = run_of("classify", "data.jsonl", "model");
    run["data"][key] = "other";
    EXPECT_THROW(RunConfig::read(run, "test"), Error) << key;
  }
  Json run = run_of("tag", "data.jsonl", "model");
  run["tokenizer"] = {{"type", "unigram"}};
  EXPECT_THROW(RunConfig::read(run, "test"), Error);
}

const Json small_bert = {{"architecture", "bert"},     {"hidden_size", 32},
                         {"num_hidden_layers", 1},     {"num_attention_heads", 2},
                         {"intermediate_size", 64},    {"max_position_embeddings", 48},
                         {"hidden_dropout_prob", 0.0}, {"attention_probs_dropout_prob", 0.0}};

const double* figure(const Metrics& metrics, const std::string& name) {
  for (const auto& [its, value] : metrics)
    if (its == name) return &value;
  return nullptr;
}

TEST(TaggingFromText, ANewTaggerLearnsAndItsFiguresAreThoseOfWhatItTags) {
  Scratch scratch;
  Json records = Json::array();
  for (int i = 0; i < 60; ++i) {
    const std::string name = i % 2 ? "Ada Love" : "Babbage", place = i % 3 ? "London" : "Bad Ems";
    const std::string text = (i % 5 ? "" : "today ") + name + " is in " + place + " .";
    const auto begin = static_cast<std::int64_t>(i % 5 ? 0 : 6);
    const auto end = begin + static_cast<std::int64_t>(name.size());
    records.push_back(
        {{"text", text},
         {"marks",
          {{{"start", begin}, {"end", end}, {"label", "PER"}},
           {{"start", end + 7}, {"end", end + 7 + static_cast<std::int64_t>(place.size())}, {"label", "LOC"}}}}});
  }
  write_file_atomically(scratch / "texts.jsonl", lines_of(records));
  const std::string data = (scratch / "texts.jsonl").string();
  for (const char* type : {"wordpiece", "bpe"}) {
    const Json run = {{"task", "tag"},
                      {"data", {{"train", data}, {"validation", data}, {"entities_field", "marks"}}},
                      {"model", small_bert},
                      {"tokenizer", {{"type", type}, {"vocab_size", 400}}},
                      {"train", {{"epochs", 8}, {"batch_size", 6}, {"learning_rate", 3e-3}}}};
    const TrainingResult result = learn(RunConfig::read(run, "test"), scratch / type, false, {});
    EXPECT_NE(read_file(scratch / type / "config.toml").find("metric = \"f1\""), std::string::npos);
    const Bundle bundle = load_bundle(scratch / type / "model");
    EXPECT_EQ(labels_of(*bundle.config, "test"), (std::vector<std::string>{"O", "B-LOC", "I-LOC", "B-PER", "I-PER"}));
    EXPECT_EQ(bundle.config->at("label2id")["I-PER"], 4);
    std::vector<std::string> texts;
    for (const Json& record : records) texts.push_back(record["text"]);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::size_t right = 0, found = 0;
    const std::vector<TaggedText> tagged = tag(bundle, views, {}, {});
    for (std::size_t i = 0; i < tagged.size(); ++i)
      for (const Entity& e : tagged[i].entities) {
        ++found;
        for (const Json& mark : records[i]["marks"])
          right += mark["start"] == e.begin && mark["end"] == e.end && mark["label"] == e.label;
      }
    const EvaluationRecord* best = nullptr;
    for (const EvaluationRecord& evaluation : result.evaluations)
      if (evaluation.step == result.best_step) best = &evaluation;
    ASSERT_TRUE(best && figure(best->metrics, "f1") && figure(best->metrics, "precision"));
    EXPECT_NEAR(*figure(best->metrics, "precision"), static_cast<double>(right) / static_cast<double>(found), 1e-12);
    EXPECT_NEAR(*figure(best->metrics, "recall"), static_cast<double>(right) / 120, 1e-12);
    EXPECT_GT(*figure(best->metrics, "f1"), 0.95) << type;
  }
}

TEST(TaggingFromText, AModelKeepsItsLabelsAndRefusesOthers) {
  Scratch scratch;
  const Path model = goldens / "entities_word_piece";
  auto run = [&](const std::string& label) {
    write_file_atomically(
        scratch / "texts.jsonl",
        fmt::format("{{\"text\": \"ada met\", \"entities\": [{{\"start\": 0, \"end\": 3, \"label\": \"{}\"}}]}}\n",
                    label));
    return RunConfig::read(run_of("tag", scratch / "texts.jsonl", model), "test");
  };
  learn(run("LOC"), scratch / "run", false, {});
  EXPECT_EQ(labels_of(*load_bundle(scratch / "run" / "model").config, "test"),
            labels_of(*load_bundle(model).config, "test"));
  EXPECT_THROW(learn(run("DAY"), scratch / "other", false, {}), Error);
}

class NewAnsweringModels : public testing::TestWithParam<std::string> {};

TEST_P(NewAnsweringModels, LearnWhereAnswersAreAndWhenThereIsNone) {
  Scratch scratch;
  Json records = Json::array();
  const std::vector<std::string> names = {"ada", "bob", "cleo", "dan", "eve"}, towns = {"rome", "paris", "oslo"};
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string name = names[i % 5], town = towns[i % 3];
    const std::string text = name + " lives in " + town + " .";
    const std::string asked = i % 4 == 3 ? "what is new ?" : i % 2 ? "who ?" : "where ?";
    Json answers = Json::array();
    if (i % 4 != 3) {
      const std::string answer = i % 2 ? name : town;
      answers.push_back({{"text", answer}, {"answer_start", text.find(answer)}});
    }
    records.push_back({{"question", asked}, {"context", text}, {"answers", answers}});
  }
  write_file_atomically(scratch / "questions.jsonl", lines_of(records));
  const std::string data = (scratch / "questions.jsonl").string();
  Json model = small_bert;
  model["architecture"] = GetParam();
  const Json run = {{"task", "answer"},
                    {"data", {{"train", data}, {"validation", data}}},
                    {"model", model},
                    {"tokenizer", {{"vocab_size", 400}}},
                    {"train", {{"epochs", 30}, {"batch_size", 6}, {"learning_rate", 3e-3}}}};
  const TrainingResult result = learn(RunConfig::read(run, "test"), scratch / "run", false, {});
  const Bundle bundle = load_bundle(scratch / "run" / "model");
  EXPECT_EQ(bundle.contract.long_policy.kind, LongPolicy::Kind::stride);
  double right = 0;
  for (const Json& record : records) {
    const auto question = record["question"].get<std::string>(), text = record["context"].get<std::string>();
    const Question asked{question, text};
    const Answer said = answer(bundle, std::span(&asked, 1), {.may_have_none = true}, {}).front();
    right += said.text == (record["answers"].empty() ? "" : record["answers"][0]["text"].get<std::string>());
  }
  const EvaluationRecord* best = nullptr;
  for (const EvaluationRecord& evaluation : result.evaluations)
    if (evaluation.step == result.best_step) best = &evaluation;
  ASSERT_TRUE(best && figure(best->metrics, "exact"));
  EXPECT_NEAR(*figure(best->metrics, "exact"), 100 * right / 60, 1e-9);
  EXPECT_GT(*figure(best->metrics, "f1"), 90);
}

INSTANTIATE_TEST_SUITE_P(Models, NewAnsweringModels, testing::Values("bert", "big_bird"));

}  // namespace
}  // namespace attune
