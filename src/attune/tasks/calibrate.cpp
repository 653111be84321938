#include "attune/tasks/calibrate.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "attune/base/error.h"
#include "attune/tasks/classify.h"

namespace attune {

namespace {

evaluate::NoveltyModel fit_novelty(const Bundle& bundle, const Documents& training,
                                   const evaluate::CalibrationOptions& options, const Run& run) {
  Documents labelled;
  labelled.source = training.source;
  for (const Document& document : training.items)
    if (document.label) labelled.items.push_back(document);
  check(!labelled.items.empty(), "{}: no document has a label: the novelty score is fitted on labelled ones",
        training.source);
  std::vector<int> classes = class_numbers(bundle.contract.labels, labelled);
  ScoredTexts scored = score_texts(bundle, texts_of(labelled), run);
  evaluate::NoveltyOptions novelty;
  if (options.neighbours > 0) novelty.neighbours = options.neighbours;
  return evaluate::NoveltyModel::fit(options.novelty_method, scored.scores.features, classes, novelty);
}

}  // namespace

std::vector<std::string> calibration_warnings(const Bundle& bundle, const CalibrationDocuments& documents) {
  const std::string surer = "the model will seem surer than it is on new documents";
  std::vector<std::string> warnings;
  for (const DataSource& source : bundle.contract.data)
    if (source.sha256 == documents.hash && source.part == "train")
      warnings.push_back(documents.validation.source + ": the model was trained on this very file: " + surer);
  if (!documents.training) return warnings;
  std::set<std::string_view> known;
  for (const Document& document : documents.training->items) known.insert(document.text);
  std::int64_t shared = 0;
  for (const Document& document : documents.validation.items) shared += known.contains(document.text);
  if (shared > 0)
    warnings.push_back(fmt::format("{}: {} of {} texts are training documents too: {}", documents.validation.source,
                                   shared, documents.validation.items.size(), surer));
  return warnings;
}

void calibrate_bundle(Bundle& bundle, const CalibrationDocuments& documents,
                      const evaluate::CalibrationOptions& options, const Run& run) {
  evaluate::check_threshold_options(options.threshold);  // not after all the work
  check_classifier(bundle);
  evaluate::CalibrationData data;
  data.truth = class_numbers(bundle.contract.labels, documents.validation);
  data.hash = documents.hash;
  ScoredTexts scored = score_texts(bundle, texts_of(documents.validation), run);
  std::optional<evaluate::NoveltyModel> novelty = bundle.novelty;
  if (documents.training) novelty = fit_novelty(bundle, *documents.training, options, run);
  if (novelty) data.novelty = novelty->scores(scored.scores.features);
  data.logits = std::move(scored.scores.logits);
  for (const EncodedText& text : scored.read) data.tokens.push_back(text.tokens);
  evaluate::CalibrationOptions used = options;
  if (novelty) used.novelty_method = novelty->method(), used.neighbours = novelty->neighbours();
  bundle.contract.calibration =
      within("calibrating on " + documents.validation.source, [&] { return evaluate::calibrate(data, used); });
  bundle.novelty = std::move(novelty);
}

}  // namespace attune
