// Metrics from files: what belongs together, what is refused, and what a record of each kind may be.
#include "attune/evaluate/text_evaluation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/evaluate/diversity.h"
#include "attune/evaluate/scored_records.h"

namespace attune::evaluate {
namespace {

class TextEvaluationFiles : public testing::Test {
 protected:
  Path directory = std::filesystem::temp_directory_path() / ("attune_text_evaluation_" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(directory); }
  void TearDown() override { std::filesystem::remove_all(directory); }

  Path file(const std::string& name, const std::string& contents) const {
    std::ofstream(directory / name) << contents;
    return directory / name;
  }
  TextEvaluation asked(const std::string& metric, const std::string& predictions, const std::string& references) const {
    return {.metric = metric,
            .predictions = file("p.jsonl", predictions),
            .references = {file("r.jsonl", references)},
            .bootstrap = {.resamples = 100}};
  }
  static double figure(const TextEvaluationResult& result, const std::string& name) {
    for (const TextFigure& one : result.figures)
      if (one.name == name) return one.value.value;
    ADD_FAILURE() << "there is no " << name;
    return -1;
  }
  static void expect_refused(const TextEvaluation& what, const std::string& part) {
    try {
      evaluate_texts(what);
      ADD_FAILURE() << "was taken, though: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
};

const std::string pair = R"({"id": 1, "text": "a b"}
{"id": 2, "text": "c d"}
)";

TEST_F(TextEvaluationFiles, RecordsBelongTogetherByIdElseByOrder) {
  const std::string turned = R"({"id": 2, "text": "c d"}
{"id": 1, "text": "a b"}
)";
  EXPECT_EQ(figure(evaluate_texts(asked("wer", pair, turned)), "wer"), 0);
  TextEvaluation by_order = asked("wer", pair, "");
  by_order.references = {file("r.txt", "a b\nc x\n")};
  EXPECT_EQ(figure(evaluate_texts(by_order), "wer"), 0.25);
  expect_refused(asked("wer", pair, R"({"id": 1, "text": "a"})"), "no record of the id 2");
  expect_refused(asked("wer", R"({"id": 1, "text": "a"})", pair), "1 of its ids are not there");
  expect_refused(asked("wer", R"({"text": "a"})", pair), "has 1 records");
  expect_refused(asked("wer", "{\"id\": 1, \"text\": \"a\"}\n{\"text\": \"b\"}", pair),
                 "1 of 2 records have an \"id\"");
  expect_refused(asked("wer", "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 1, \"text\": \"b\"}", pair),
                 "stands in line 1, too");
  expect_refused(asked("wer", "", pair), "no record");
}

TEST_F(TextEvaluationFiles, SeveralFilesAreSeveralReferences) {
  TextEvaluation bleu = asked("bleu", pair, "{\"references\": [\"x y\", \"a b\"]}\n{\"target\": \"z z\"}");
  bleu.bleu.effective_order = true;
  const double alone = figure(evaluate_texts(bleu), "bleu");
  bleu.references.push_back(file("second.txt", "q\nc d\n"));
  const TextEvaluationResult both = evaluate_texts(bleu);
  EXPECT_NEAR(figure(both, "bleu"), 100, 1e-9);
  EXPECT_LT(alone, 99);
  EXPECT_EQ(both.signature, "nrefs:var|case:mixed|eff:yes|tok:13a|smooth:exp");
  TextEvaluation wer = asked("wer", pair, pair);
  wer.references.push_back(wer.references[0]);
  expect_refused(wer, "one file of references");
}

TEST_F(TextEvaluationFiles, EachItemHasItsOwnFigures) {
  TextEvaluation wanted = asked("chrf", pair, "{\"id\": 2, \"text\": \"c d\"}\n{\"id\": 1, \"text\": \"z\"}");
  wanted.each = true;
  const TextEvaluationResult result = evaluate_texts(wanted);
  ASSERT_EQ(result.each.size(), 2u);
  EXPECT_EQ(result.each[0].id, "1");
  EXPECT_EQ(result.each[0].figures[0].value.value, 0);
  EXPECT_EQ(result.each[1].figures[0].value.value, 100);
  EXPECT_LE(result.figures[0].value.low, result.figures[0].value.value);
  EXPECT_GE(result.figures[0].value.high, result.figures[0].value.value);
  EXPECT_NE(result.table("chrf").find("signature: nrefs:1"), std::string::npos);
  EXPECT_EQ(result.record("chrf")["texts"], 2);
}

TEST_F(TextEvaluationFiles, SpansAreTagsOrEntities) {
  const std::string tags = R"({"tags": ["B-A", "I-A", "O", "B-B"]})";
  const std::string entities =
      R"({"entities": [{"start": 0, "end": 2, "label": "A"}, {"start": 2, "end": 3, "label": "B"}]})";
  const TextEvaluationResult result = evaluate_texts(asked("spans", entities, tags));
  EXPECT_EQ(figure(result, "micro f1"), 0.5);
  EXPECT_EQ(figure(result, "A f1"), 1);
  EXPECT_EQ(figure(result, "B support"), 1);
  expect_refused(asked("spans", R"({"tags": ["B-A", "X-A"]})", tags), "tag 2 is \"X-A\"");
  expect_refused(asked("spans", R"({"entities": [{"start": 0.5, "end": 2, "label": "A"}]})", tags), "whole number");
  TextEvaluation strict = asked("spans", R"({"tags": ["E-A"]})", tags);
  strict.tags = TagReading::strict;
  expect_refused(strict, "B- or I-");
  EXPECT_EQ(figure(evaluate_texts(asked("spans", R"({"tags": []})", R"({"tags": ["O"]})")), "micro f1"), 0);
}

TEST_F(TextEvaluationFiles, AnswersMayStandAsDataSetsHaveThem) {
  const std::string predictions = "{\"answer\": \"The cat\"}\n{\"answer\": \"\"}";
  for (const char* truth :
       {R"({"answers": ["cat"]})", R"({"answers": {"text": ["dog", "cat"], "answer_start": [1, 2]}})",
        R"({"answers": [{"text": "cat"}]})"}) {
    const std::string references = std::string(truth) + "\n{\"answers\": null}";
    EXPECT_EQ(figure(evaluate_texts(asked("squad-v2", predictions, references)), "exact"), 100) << truth;
    expect_refused(asked("squad", predictions, references), "question 2 has no right answer");
  }
  expect_refused(asked("squad-v2", predictions, "{\"answers\": [3]}\n{\"answers\": []}"), "line 1: \"answers\"");
}

TEST_F(TextEvaluationFiles, RankingsAreListsOrScores) {
  const std::string grades = "{\"relevant\": [\"b\"]}\n{\"relevant\": {\"x\": 3, \"y\": 1}}";
  const TextEvaluationResult result =
      evaluate_texts(asked("ranking", "{\"ranking\": [\"a\", \"b\"]}\n{\"scores\": {\"y\": 0.1, \"x\": 0.7}}", grades));
  EXPECT_EQ(figure(result, "mrr"), 0.75);
  EXPECT_EQ(figure(result, "recall@1"), 0.25);
  EXPECT_EQ(figure(result, "recall@5"), 1);
  expect_refused(asked("ranking", "{\"ranking\": [\"a\", \"a\"]}\n{\"ranking\": []}", grades), "\"a\" is ranked twice");
  EXPECT_EQ(figure(evaluate_texts(asked("ranking", "{\"ranking\": []}\n{\"ranking\": []}", grades)), "map"), 0);
}

TEST_F(TextEvaluationFiles, WhatIsWrongIsNamed) {
  expect_refused(asked("blue", pair, pair), "did you mean \"bleu\"?");
  expect_refused(asked("bleu", R"({"id": 1, "words": "a"})", R"({"id": 1, "text": "a"})"),
                 "line 1: there is no \"text\"");
  expect_refused(asked("bleu", R"([1])", pair), "line 1: expected an object");
  expect_refused(asked("bleu", R"({"id": 1, "text": 3})", R"({"id": 1, "text": "a"})"),
                 "\"text\": expected a text, got 3");
  TextEvaluation field = asked("bleu", pair, pair);
  field.reference_field = "target";
  expect_refused(field, "there is no \"target\"");
  field = asked("bleu", pair, pair);
  field.bleu.smoothing_value = 0.3;
  expect_refused(field, "\"exp\" has no value");
  field.references.clear();
  expect_refused(field, "give their file");
}

TEST(Diversity, CountsWhatIsRepeated) {
  const std::vector<std::string> texts = {"a b a b", "a c"};
  const auto orders = diversity(texts, {.resamples = 100});
  EXPECT_DOUBLE_EQ(orders[0].distinct, 3 / 6.0);  // a b c of a b a b a c
  EXPECT_DOUBLE_EQ(orders[1].distinct, 3 / 4.0);  // ab ba ac of ab ba ab ac
  EXPECT_DOUBLE_EQ(orders[0].repetition.value, (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(orders[1].repetition.value, (1 / 3.0 + 0) / 2);
  EXPECT_EQ(orders[2].texts, 1);
  EXPECT_EQ(orders[3].texts, 1);
  EXPECT_EQ(orders[3].repetition.value, 0);
  EXPECT_THROW(diversity({}, {}), Error);
}

TEST_F(TextEvaluationFiles, DiversityNeedsNoReferences) {
  TextEvaluation wanted = asked("diversity", pair, pair);
  expect_refused(wanted, "leave the references out");
  wanted.references.clear();
  EXPECT_EQ(figure(evaluate_texts(wanted), "distinct-1"), 1);
}

}  // namespace
}  // namespace attune::evaluate
