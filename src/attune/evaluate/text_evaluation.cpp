#include "attune/evaluate/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include "attune/base/json_values.h"

#include "attune/base/usage_error.h"
#include "attune/evaluate/diversity.h"
#include "attune/evaluate/edit_rate.h"
#include "attune/evaluate/scored_records.h"
#include "attune/report/text_table.h"

namespace attune::evaluate {

namespace {

/// What was predicted beside what it belongs to.
struct Pairs {
  ScoredRecords predictions;
  std::vector<ScoredRecords> references;
  std::vector<std::vector<std::size_t>> places;  // [files of references][predictions]

  explicit Pairs(const TextEvaluation& asked) : predictions(read_scored(asked.predictions)) {
    for (const Path& path : asked.references) {
      references.push_back(read_scored(path));
      places.push_back(match(predictions, references.back()));
    }
  }
  std::size_t size() const { return predictions.items.size(); }
  const ScoredRecord& reference(std::size_t i, std::size_t file = 0) const {
    return references[file].items[places[file][i]];
  }
};

std::vector<TextAndReferences> texts_of(const Pairs& pairs, const TextEvaluation& asked) {
  std::vector<TextAndReferences> items;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    items.push_back({text_in(pairs.predictions.items[i], asked.prediction_field), {}});
    for (std::size_t file = 0; file < pairs.references.size(); ++file)
      for (std::string& text : references_in(pairs.reference(i, file), asked.reference_field))
        items.back().references.push_back(std::move(text));
  }
  return items;
}

/// A metric that was measured, and how its figures stand for a single item.
struct Measured {
  SummedMetric metric;
  std::string unit = "texts", signature = {};
  std::function<std::vector<double>(std::size_t)> of_item = {};  // where it is not the metric's own
  std::vector<TextFigure> more = {};                             // figures without an interval
};

Measured measure_bleu(const Pairs& pairs, const TextEvaluation& asked) {
  const std::vector<TextAndReferences> items = texts_of(pairs, asked);
  Measured measured{bleu(items, asked.bleu)};
  measured.signature = bleu_signature(items, asked.bleu);
  if (!asked.each) return measured;
  BleuOptions sentence = asked.bleu;
  sentence.effective_order = true;  // sacreBLEU's sentence_bleu, too
  measured.of_item = [alone = bleu(items, sentence)](std::size_t i) { return alone.of_item(i); };
  return measured;
}

Measured measure_chrf(const Pairs& pairs, const TextEvaluation& asked) {
  ChrfOptions options = asked.chrf;
  if (asked.metric == "chrf++") options.word_order = 2;
  const std::vector<TextAndReferences> items = texts_of(pairs, asked);
  Measured measured{chrf(items, options)};
  measured.signature = chrf_signature(items, options);
  return measured;
}

Measured measure_spans(const Pairs& pairs, const TextEvaluation& asked) {
  std::vector<FoundSpans> texts;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    texts.push_back({spans_in(pairs.predictions.items[i], asked.prediction_field, asked.tags),
                     spans_in(pairs.reference(i), asked.reference_field, asked.tags)});
  return {span_scores(texts)};
}

Measured measure_answers(const Pairs& pairs, const TextEvaluation& asked) {
  std::vector<AnswerAndTruth> questions;
  const std::string field = asked.prediction_field.empty() ? "answer" : asked.prediction_field;
  std::size_t known = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ScoredRecord& record = pairs.predictions.items[i];
    questions.push_back({text_in(record, field), answers_in(pairs.reference(i), asked.reference_field),
                         probability_in(record, "no_answer_probability")});
    known += questions.back().no_answer_probability.has_value();
  }
  if (asked.metric == "squad") return {squad_scores(questions), "questions"};
  Measured measured{squad2_scores(questions, asked.no_answer_threshold), "questions"};
  if (known == 0) return measured;
  const BestThreshold best = best_no_answer_threshold(questions);
  const auto add = [&](const char* name, double value) {
    measured.more.push_back({name, {value, value, value}, false});
  };
  add("best exact", best.exact), add("best exact threshold", best.exact_threshold);
  add("best f1", best.f1), add("best f1 threshold", best.f1_threshold);
  return measured;
}

Measured measure_ranking(const Pairs& pairs, const TextEvaluation& asked) {
  std::vector<RankedQuery> queries;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    queries.push_back({scores_in(pairs.predictions.items[i], asked.prediction_field),
                       grades_in(pairs.reference(i), asked.reference_field)});
  return {ranking_scores(queries, asked.cutoffs), "queries"};
}

/// Numbers of items are no estimates: they have no interval.
bool is_count(const std::string& name) {
  for (const char* ending : {"support", "edits", "reference words", "reference characters", "questions"})
    if (name.ends_with(ending)) return true;
  return false;
}

TextEvaluationResult result_of(const Measured& measured, const Pairs& pairs, const TextEvaluation& asked) {
  const SummedMetric& metric = measured.metric;
  TextEvaluationResult result{
      .items = static_cast<std::int64_t>(pairs.size()), .unit = measured.unit, .signature = measured.signature};
  const std::vector<Interval> values = summed_intervals(metric, asked.bootstrap);
  for (std::size_t f = 0; f < values.size(); ++f)
    result.figures.push_back({metric.names[f], values[f], pairs.size() > 1 && !is_count(metric.names[f])});
  result.figures.insert(result.figures.end(), measured.more.begin(), measured.more.end());
  for (std::size_t i = 0; asked.each && i < pairs.size(); ++i) {
    const std::vector<double> its = measured.of_item ? measured.of_item(i) : metric.of_item(i);
    result.each.push_back({pairs.predictions.items[i].id, {}});
    for (std::size_t f = 0; f < its.size(); ++f)
      result.each.back().figures.push_back({metric.names[f], {its[f], its[f], its[f]}, false});
  }
  return result;
}

TextEvaluationResult measure_diversity(const TextEvaluation& asked) {
  check_usage(asked.references.empty() && asked.reference_field.empty(),
              "diversity is one of the predictions alone: leave the references out");
  check_usage(!asked.each, "diversity is one of all texts together: there is none of each");
  const ScoredRecords records = read_scored(asked.predictions);
  std::vector<std::string> texts;
  for (const ScoredRecord& record : records.items) texts.push_back(text_in(record, asked.prediction_field));
  TextEvaluationResult result{.items = static_cast<std::int64_t>(texts.size()), .unit = "texts"};
  for (const DiversityOfOrder& one : diversity(texts, asked.bootstrap)) {
    result.figures.push_back({fmt::format("distinct-{}", one.order), {one.distinct, 0, 0}, false});
    result.figures.push_back({fmt::format("repetition-{}", one.order), one.repetition, one.texts > 1});
  }
  return result;
}

Measured measure(const Pairs& pairs, const TextEvaluation& asked) {
  const std::string& name = asked.metric;
  if (name == "bleu") return measure_bleu(pairs, asked);
  if (name == "chrf" || name == "chrf++") return measure_chrf(pairs, asked);
  if (name == "rouge") return {rouge(texts_of(pairs, asked), asked.rouge)};
  if (name == "wer") return {word_error_rate(texts_of(pairs, asked))};
  if (name == "cer") return {character_error_rate(texts_of(pairs, asked))};
  if (name == "spans") return measure_spans(pairs, asked);
  if (name == "ranking") return measure_ranking(pairs, asked);
  return measure_answers(pairs, asked);
}

bool takes_several_references(const std::string& metric) {
  return metric == "bleu" || metric == "chrf" || metric == "chrf++" || metric == "rouge";
}

std::string number(double value) {
  return value == std::floor(value) && std::abs(value) >= 1000 ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.4f}", value);
}

}  // namespace

const std::vector<std::string>& text_metrics() {
  static const std::vector<std::string> names = {"bleu",     "chrf",    "chrf++", "rouge", "spans",    "squad",
                                                 "squad-v2", "ranking", "wer",    "cer",   "diversity"};
  return names;
}

TextEvaluationResult evaluate_texts(const TextEvaluation& asked) {
  const bool known = std::ranges::find(text_metrics(), asked.metric) != text_metrics().end();
  check_usage(known, "there is no metric \"{}\": did you mean \"{}\"?", asked.metric,
              nearest_name(asked.metric, text_metrics()));
  if (asked.metric == "diversity") return measure_diversity(asked);
  check_usage(!asked.references.empty(), "{} compares with references: give their file", asked.metric);
  check_usage(asked.references.size() == 1 || takes_several_references(asked.metric),
              "{} takes one file of references, not {}", asked.metric, asked.references.size());
  const Pairs pairs(asked);
  return result_of(measure(pairs, asked), pairs, asked);
}

std::string TextEvaluationResult::table(const std::string& metric) const {
  report::Table table{.columns = {{metric, report::Align::left}, {"value"}, {"95 %"}}, .rows = {}};
  for (const TextFigure& f : figures)
    table.rows.push_back({f.name, number(f.value.value),
                          f.interval ? fmt::format("{} to {}", number(f.value.low), number(f.value.high)) : ""});
  std::string text = table.text() + fmt::format("{} {}\n", items, unit);
  if (!signature.empty()) text += "signature: " + signature + "\n";
  return text;
}

Json TextEvaluationResult::record(const std::string& metric) const {
  Json record = {{"metric", metric}, {unit, items}};
  for (const TextFigure& f : figures) {
    if (f.interval)
      record["figures"][f.name] = {{"value", f.value.value}, {"low", f.value.low}, {"high", f.value.high}};
    else
      record["figures"][f.name] = {{"value", f.value.value}};
  }
  if (!signature.empty()) record["signature"] = signature;
  return record;
}

}  // namespace attune::evaluate
