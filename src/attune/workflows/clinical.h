#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/data/documents.h"
#include "attune/workflows/clinical_model.h"

namespace attune::workflows {

struct ClinicalOptions {
  Path output = "clinical";
  std::optional<Path> data = {};  // labelled documents; without: the bundled, generated ones
  DocumentFormat format = {};
  /// What stays together, and what the unfamiliar test shares with no training document. Nothing said: "patient", and
  /// "template" and "source", each where the documents have it.
  std::optional<std::vector<std::string>> group_fields = {}, held_out_fields = {};
  std::array<double, 3> fractions = {0.75, 0.1, 0.15};  // training, validation, test, of what is not unfamiliar
  std::optional<Path> rules = {};  // of the rules baseline; without: OUTPUT/rules.toml where that is there
  double target_error = 0.05;      // of the automatic part
  std::uint64_t seed = 1;
  ClinicalModel model = {};
};

struct ClinicalOutcome {
  std::string table;  // for people
  Path report;
};

/// The main job: documents -> check -> split -> baselines -> pretraining -> training -> calibration -> evaluation and
/// routing -> report. In `output`: data/ (the split), rules.toml, baselines.json, pretrain/, run/ (run/model is the
/// classifier), predictions.jsonl, evaluation.json, report.html. Each step's result is kept in steps/; a later call
/// with the same output does only what changed, and one that was cut short goes on where it stopped. Says what it does
/// in the log. Throws Error before anything is read where an option is out of range, and before anything is written
/// where the documents or the rules do not fit: an earlier job stays as it is. Cancelled passes through.
ClinicalOutcome run_clinical(const ClinicalOptions& options, const Run& run);

}  // namespace attune::workflows
