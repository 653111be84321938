#include "attune/tasks/classify.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/data/batches.h"

namespace attune {

namespace {

void put_rows(const Tensor& rows, std::span<const std::int64_t> places, evaluate::ScoreTable& table) {
  Tensor values = rows.contiguous();
  std::span<const float> all = values.values<float>();
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::int64_t c = 0; c < table.width; ++c)
      table.values[static_cast<std::size_t>(places[i] * table.width + c)] =
          static_cast<double>(all[i * static_cast<std::size_t>(table.width) + static_cast<std::size_t>(c)]);
}

void size_table(evaluate::ScoreTable& table, std::size_t rows, std::int64_t width) {
  table.width = width;
  table.values.assign(rows * static_cast<std::size_t>(width), 0);
}

}  // namespace

void check_classifier(const Bundle& bundle) {
  const ModelFacts& facts = bundle.model->facts();
  check(facts.head == HeadKind::classify, "{} is no classifier: it is a {}", bundle.path.string(),
        facts.head == HeadKind::none ? facts.model_type + " without a head" : class_name(facts.model_type, facts.head));
}

Bundle load_classifier(const Path& directory) {
  Bundle bundle = load_bundle(directory);
  check_classifier(bundle);
  return bundle;
}

ClassScores score_examples(const Model& model, std::span<const Example> examples, const Run& run,
                           std::int64_t batch_tokens) {
  check(model.facts().head == HeadKind::classify, "this {} model is no classifier", model.facts().model_type);
  NoGradient none;
  std::vector<std::int64_t> lengths;
  for (const Example& example : examples) lengths.push_back(example.tokens());
  ClassScores scores;
  std::int64_t done = 0;
  for (const auto& batch : make_batches(lengths, {.batch_tokens = batch_tokens, .order = BatchOrder::sequential}, 0)) {
    if (run.cancelled()) throw Cancelled("stopped: no result was written");
    std::vector<Example> part;
    for (std::int64_t i : batch) {
      part.push_back(examples[static_cast<std::size_t>(i)]);
      part.back().labels.clear();
    }
    LabelledBatch labelled = collate(model, part, batch);
    Tensor features = model.head().features(final_states(model, labelled), labelled.batch, nullptr);
    Tensor logits = model.head().logits_of(features, labelled.batch);
    if (scores.logits.width == 0) {
      size_table(scores.logits, examples.size(), logits.dim(1));
      size_table(scores.features, examples.size(), features.dim(1));
    }
    put_rows(logits, batch, scores.logits);
    put_rows(features, batch, scores.features);
    done += static_cast<std::int64_t>(batch.size());
    run.report({.doing = "classifying",
                .done = done,
                .total = static_cast<std::int64_t>(examples.size()),
                .unit = "documents",
                .detail = ""});
  }
  return scores;
}

TextEncoder text_encoder(const Bundle& bundle, std::optional<LongPolicy::Kind> policy) {
  LongPolicy used = bundle.contract.long_policy;
  if (policy) used.kind = *policy;
  return TextEncoder(bundle.text(), used, bundle.model->facts().longest.value_or(0));
}

std::vector<Classified> decide(const Bundle& bundle, const ClassScores& scores, std::span<const EncodedText> read) {
  const Contract& contract = bundle.contract;
  double temperature = contract.calibration ? contract.calibration->temperature : 1;
  evaluate::ScoreTable probabilities = evaluate::softmax(scores.logits, temperature);
  std::vector<int> top = evaluate::top_class(probabilities);
  std::vector<double> confidence = evaluate::top_score(probabilities), novelty;
  if (bundle.novelty) novelty = bundle.novelty->scores(scores.features);
  std::vector<Classified> results(read.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    Classified& r = results[i];
    r.label = contract.labels[static_cast<std::size_t>(top[i])];
    r.confidence = confidence[i];
    auto row = probabilities.row(static_cast<std::int64_t>(i));
    r.probabilities.assign(row.begin(), row.end());
    if (!novelty.empty()) r.novelty = novelty[i];
    r.tokens = read[i].tokens;
    r.chunks = static_cast<std::int64_t>(read[i].chunks.size());
    if (!contract.calibration) {
      r.automatic = false;
      r.reasons = {"not_calibrated"};
      r.explained = {"this model was not calibrated: its confidence is not to be trusted"};
      continue;
    }
    evaluate::Route route = evaluate::route(*contract.calibration, {r.confidence, r.novelty, r.tokens});
    r.automatic = route.automatic();
    for (const auto& because : route.reasons) {
      r.reasons.push_back(evaluate::review_reason_name(because.reason));
      r.explained.push_back(because.words);
    }
  }
  return results;
}

ScoredTexts score_texts(const Bundle& bundle, std::span<const std::string_view> texts, const Run& run,
                        std::optional<LongPolicy::Kind> policy) {
  TextEncoder encoder = text_encoder(bundle, policy);
  ScoredTexts scored{.scores = {}, .read = encoder.encode_all({texts.begin(), texts.end()})};
  std::vector<Example> examples;
  for (const EncodedText& text : scored.read) {
    check(text.tokens > 0, "text {} has no token: there is nothing to classify", examples.size() + 1);
    examples.push_back({.chunks = text.chunks, .type_ids = {}, .decoder_ids = {}, .labels = {}});
  }
  scored.scores = score_examples(*bundle.model, examples, run);
  return scored;
}

std::vector<int> class_numbers(const std::vector<std::string>& labels, const Documents& documents) {
  std::vector<int> numbers;
  for (const Document& document : documents.items) {
    auto found = document.label ? std::find(labels.begin(), labels.end(), *document.label) : labels.end();
    check(found != labels.end() || !document.label, "{}: line {}: the label \"{}\" is none of the model's: {}",
          documents.source, document.line, document.label.value_or(""), fmt::join(labels, ", "));
    numbers.push_back(document.label ? static_cast<int>(found - labels.begin()) : -1);
  }
  return numbers;
}

std::vector<std::string_view> texts_of(const Documents& documents) {
  std::vector<std::string_view> texts;
  for (const Document& document : documents.items) texts.push_back(document.text);
  return texts;
}

std::vector<Classified> classify(const Bundle& bundle, std::span<const std::string_view> texts, const Run& run,
                                 std::optional<LongPolicy::Kind> policy) {
  check_classifier(bundle);
  ScoredTexts scored = score_texts(bundle, texts, run, policy);
  return decide(bundle, scored.scores, scored.read);
}

}  // namespace attune
