#include "attune/tasks/calibrate.h"

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

void calibrate_bundle(Bundle& bundle, const CalibrationDocuments& documents,
                      const evaluate::CalibrationOptions& options, const Run& run) {
  check_classifier(bundle);
  evaluate::CalibrationData data;
  data.truth = class_numbers(bundle.contract.labels, documents.validation);
  data.hash = documents.hash;
  ScoredTexts scored = score_texts(bundle, texts_of(documents.validation), run);
  std::optional<evaluate::NoveltyModel> novelty = bundle.novelty;
  if (documents.training) novelty = fit_novelty(bundle, *documents.training, options, run);
  if (novelty) data.novelty = novelty->scores(scored.scores.features);
  data.logits = std::move(scored.scores.logits);
  evaluate::CalibrationOptions used = options;
  if (novelty) used.novelty_method = novelty->method(), used.neighbours = novelty->neighbours();
  bundle.contract.calibration =
      within("calibrating on " + documents.validation.source, [&] { return evaluate::calibrate(data, used); });
  bundle.novelty = std::move(novelty);
}

}  // namespace attune
