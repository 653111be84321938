// tests/golden/evaluate (made by tools/golden/text_metrics.py with the reference programs) against this room.
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/file.h"
#include "attune/base/json.h"
#include "attune/evaluate/answer_scores.h"
#include "attune/evaluate/bleu.h"
#include "attune/evaluate/chrf.h"
#include "attune/evaluate/edit_rate.h"
#include "attune/evaluate/porter_stemmer.h"
#include "attune/evaluate/ranking.h"
#include "attune/evaluate/rouge.h"
#include "attune/evaluate/span_scores.h"
#include "attune/evaluate/words.h"

namespace attune::evaluate {
namespace {

Json golden_file(const char* name) { return read_json(Path(ATTUNE_GOLDEN_DIR) / "evaluate" / name); }

const Json& texts() {
  static const Json value = golden_file("texts.json");
  return value;
}

const Json& answers() {
  static const Json value = golden_file("answers.json");
  return value;
}

std::vector<TextAndReferences> set_of(const Json& name) {
  std::vector<TextAndReferences> items;
  for (const Json& pair : texts()["sets"].at(name.get<std::string>()))
    items.push_back({pair[0], pair[1].get<std::vector<std::string>>()});
  return items;
}

using Strings = std::vector<std::string>;

Strings strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

TEST(Words, AreThoseOfPythonSacrebleuAndRougeScore) {
  EXPECT_GT(texts()["tokens"].size(), 20u);
  for (const Json& one : texts()["tokens"]) {
    const std::string text = one["text"];
    SCOPED_TRACE(text);
    EXPECT_EQ(bleu_words(text, BleuTokenizer::mteval_13a), one["13a"].get<Strings>());
    EXPECT_EQ(bleu_words(text, BleuTokenizer::international), one["intl"].get<Strings>());
    EXPECT_EQ(bleu_words(text, BleuTokenizer::characters), one["char"].get<Strings>());
    EXPECT_EQ(bleu_words(text, BleuTokenizer::none), one["words"].get<Strings>());
    EXPECT_EQ(strings(split_words(text)), one["words"].get<Strings>());
    EXPECT_EQ(lower_case(text), one["lower"].get<std::string>());
    EXPECT_EQ(rouge_words(text), one["rouge"].get<Strings>());
    EXPECT_EQ(rouge_words(text, {.stem = true}), one["stems"].get<Strings>());
  }
}

BleuOptions bleu_options(const Json& one) {
  BleuOptions options;
  if (one.contains("tokenize")) options.tokenizer = bleu_tokenizer(one["tokenize"].get<std::string>());
  if (one.contains("smooth_method")) options.smoothing = bleu_smoothing(one["smooth_method"].get<std::string>());
  if (one.contains("smooth_value") && !one["smooth_value"].is_null()) options.smoothing_value = one["smooth_value"];
  options.lower_case = one.value("lowercase", false);
  options.effective_order = one.value("effective_order", false);
  return options;
}

TEST(Bleu, EqualsSacrebleu) {
  EXPECT_GT(texts()["bleu"].size(), 50u);
  for (const Json& one : texts()["bleu"]) {
    SCOPED_TRACE(one["set"].get<std::string>() + " " + one["signature"].get<std::string>());
    const auto items = set_of(one["set"]);
    BleuOptions options = bleu_options(one);
    const std::vector<double> ours = bleu(items, options).on_all();
    EXPECT_NEAR(ours[0], one["score"].get<double>(), 1e-9);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(ours[1 + n], one["precisions"][n].get<double>(), 1e-9) << n;
    EXPECT_NEAR(ours[5], one["bp"].get<double>(), 1e-12);
    EXPECT_NEAR(ours[6], one["sys_len"].get<double>() / one["ref_len"].get<double>(), 1e-12);
    EXPECT_EQ(bleu_signature(items, options), one["signature"].get<std::string>());
    options.effective_order = true;
    const SummedMetric single = bleu(items, options);
    for (std::size_t i = 0; i < one["single"].size(); ++i)
      EXPECT_NEAR(single.of_item(i)[0], one["single"][i].get<double>(), 1e-9) << "sentence " << i;
  }
}

TEST(Chrf, EqualsSacrebleu) {
  EXPECT_GE(texts()["chrf"].size(), 30u);
  for (const Json& one : texts()["chrf"]) {
    SCOPED_TRACE(one["set"].get<std::string>() + " " + one["signature"].get<std::string>());
    const auto items = set_of(one["set"]);
    const ChrfOptions options{.character_order = one.value("char_order", 6),
                              .word_order = one.value("word_order", 0),
                              .beta = one.value("beta", 2.0),
                              .lower_case = one.value("lowercase", false),
                              .keep_spaces = one.value("whitespace", false)};
    const SummedMetric metric = chrf(items, options);
    EXPECT_NEAR(metric.on_all()[0], one["score"].get<double>(), 1e-9);
    for (std::size_t i = 0; i < one["single"].size(); ++i)
      EXPECT_NEAR(metric.of_item(i)[0], one["single"][i].get<double>(), 1e-9) << "sentence " << i;
    EXPECT_EQ(chrf_signature(items, options), one["signature"].get<std::string>());
  }
}

TEST(Rouge, EqualsRougeScore) {
  const Json golden = golden_file("rouge.json");
  EXPECT_GT(golden["cases"].size(), 8u);
  for (const Json& one : golden["cases"]) {
    SCOPED_TRACE(one["set"].get<std::string>() + (one["stem"] ? ", stems" : ""));
    const SummedMetric metric = rouge(set_of(one["set"]), {.stem = one["stem"]});
    ASSERT_EQ(metric.items(), one["scores"].size());
    for (std::size_t i = 0; i < metric.items(); ++i) {
      const std::vector<double> ours = metric.of_item(i);
      for (std::size_t k = 0; k < 4; ++k) {  // rouge1, rouge2, rougeL, rougeLsum: precision, recall, F
        const Json& expected = one["scores"][i][k];
        EXPECT_NEAR(ours[4 + k], expected[0].get<double>(), 1e-12) << i << " " << metric.names[4 + k];
        EXPECT_NEAR(ours[8 + k], expected[1].get<double>(), 1e-12) << i << " " << metric.names[8 + k];
        EXPECT_NEAR(ours[k], expected[2].get<double>(), 1e-12) << i << " " << metric.names[k];
      }
    }
  }
}

TEST(PorterStem, EqualsNltk) {
  const Json golden = golden_file("stems.json");
  EXPECT_GT(golden.size(), 2000u);
  for (const auto& [word, stem] : golden.items()) EXPECT_EQ(porter_stem(word), stem.get<std::string>()) << word;
}

TEST(SpanScores, EqualSeqeval) {
  EXPECT_GT(answers()["spans"].size(), 5u);
  for (const Json& one : answers()["spans"]) {
    const TagReading reading = one["strict"] ? TagReading::strict : TagReading::lenient;
    SCOPED_TRACE(one["name"].get<std::string>() + (one["strict"] ? ", strict" : ""));
    std::vector<FoundSpans> found;
    for (std::size_t i = 0; i < one["truth"].size(); ++i)
      found.push_back({spans_of_tags(one["answers"][i].get<Strings>(), reading),
                       spans_of_tags(one["truth"][i].get<Strings>(), reading)});
    const SummedMetric metric = span_scores(found);
    const std::vector<double> ours = metric.on_all();
    const auto figure = [&](const std::string& name) {
      const auto at = std::ranges::find(metric.names, name);
      return at == metric.names.end() ? -1 : ours[static_cast<std::size_t>(at - metric.names.begin())];
    };
    std::size_t compared = 0;
    for (const auto& [key, expected] : one["report"].items()) {
      const std::string name = key.ends_with(" avg") ? key.substr(0, key.size() - 4) : key;
      EXPECT_NEAR(figure(name + " f1"), expected[0].get<double>(), 1e-12) << name;
      EXPECT_NEAR(figure(name + " precision"), expected[1].get<double>(), 1e-12) << name;
      EXPECT_NEAR(figure(name + " recall"), expected[2].get<double>(), 1e-12) << name;
      if (name == key) {
        EXPECT_EQ(figure(name + " support"), expected[3].get<double>()) << name;
      }
      ++compared;
    }
    EXPECT_GE(compared, 3u);
  }
}

std::vector<AnswerAndTruth> questions_of(bool with_truth) {
  std::vector<AnswerAndTruth> questions;
  for (const Json& one : answers()["squad"]["questions"])
    if (!with_truth || !one["truth"].empty())
      questions.push_back({one["answer"], one["truth"].get<Strings>(), one["no_answer_probability"].get<double>()});
  return questions;
}

TEST(SquadScores, EqualTheEvaluationScripts) {
  const Json& golden = answers()["squad"];
  for (const Json& pair : golden["normal"])
    EXPECT_EQ(plain_answer(pair[0].get<std::string>()), pair[1].get<std::string>()) << pair[0];
  const std::vector<double> one = squad_scores(questions_of(true)).on_all();
  EXPECT_NEAR(one[0], golden["v1"]["exact"].get<double>(), 1e-10);
  EXPECT_NEAR(one[1], golden["v1"]["f1"].get<double>(), 1e-10);
  const std::vector<AnswerAndTruth> questions = questions_of(false);
  for (const auto& [threshold, expected] : golden["v2"].items()) {
    const std::vector<double> two = squad2_scores(questions, std::stod(threshold)).on_all();
    EXPECT_NEAR(two[0], expected["all"][0].get<double>(), 1e-10);
    EXPECT_NEAR(two[1], expected["all"][1].get<double>(), 1e-10);
    EXPECT_NEAR(two[2], expected["has"][0].get<double>(), 1e-10);
    EXPECT_NEAR(two[3], expected["has"][1].get<double>(), 1e-10);
    EXPECT_NEAR(two[5], expected["no"][0].get<double>(), 1e-10);
  }
  const BestThreshold best = best_no_answer_threshold(questions);
  EXPECT_NEAR(best.exact, golden["best"]["exact"][0].get<double>(), 1e-10);
  EXPECT_EQ(best.exact_threshold, golden["best"]["exact"][1].get<double>());
  EXPECT_NEAR(best.f1, golden["best"]["f1"][0].get<double>(), 1e-10);
  EXPECT_EQ(best.f1_threshold, golden["best"]["f1"][1].get<double>());
}

TEST(RankingScores, EqualPytrecEval) {
  std::vector<RankedQuery> queries;
  for (const Json& one : answers()["ranking"]) {
    queries.emplace_back();
    for (const auto& [document, score] : one["scores"].items()) queries.back().scores.emplace_back(document, score);
    for (const auto& [document, grade] : one["grades"].items()) queries.back().grades[document] = grade;
  }
  const SummedMetric metric = ranking_scores(queries, {1, 3, 10});
  const char* names[] = {"ndcg_cut_1",  "recall_1",  "P_1",  "ndcg_cut_3", "recall_3", "P_3",
                         "ndcg_cut_10", "recall_10", "P_10", "ndcg",       "map",      "recip_rank"};
  EXPECT_GT(queries.size(), 20u);
  for (std::size_t q = 0; q < queries.size(); ++q)
    for (std::size_t f = 0; f < std::size(names); ++f)
      EXPECT_NEAR(metric.of_item(q)[f], answers()["ranking"][q]["expected"][names[f]].get<double>(), 1e-7)
          << "query " << q << ", " << names[f];
}

TEST(ErrorRates, EqualJiwer) {
  const Json& golden = answers()["edits"];
  std::vector<TextAndReferences> items;
  for (const Json& pair : golden["pairs"]) items.push_back({pair[0], {pair[1]}});
  const SummedMetric words = word_error_rate(items), characters = character_error_rate(items);
  EXPECT_NEAR(words.on_all()[0], golden["all"][0].get<double>(), 1e-12);
  EXPECT_NEAR(characters.on_all()[0], golden["all"][1].get<double>(), 1e-12);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_NEAR(words.of_item(i)[0], golden["wer"][i].get<double>(), 1e-12) << items[i].references[0];
    EXPECT_NEAR(characters.of_item(i)[0], golden["cer"][i].get<double>(), 1e-12) << items[i].references[0];
  }
}

}  // namespace
}  // namespace attune::evaluate
