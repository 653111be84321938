#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/base/run.h"
#include "attune/data/documents.h"

namespace attune::workflows {

/// Measuring a classifier on labelled documents, outside the job that made it.
struct ModelReportOptions {
  Path model, data;
  DocumentFormat format = {};
  std::vector<std::string> by = {};       // fields to slice by
  std::optional<std::string> group = {};  // whose documents belong together; nothing said: "patient", if there
  std::optional<Path> output = {};        // for evaluation.json, predictions.jsonl and report.html
  std::uint64_t seed = 0;
};

struct ModelReportOutcome {
  std::string table;  // for people
  JsonValue record;   // evaluation.json
  std::vector<std::string> warnings;
};

/// Throws Error for a model that is no classifier, a label that it does not know, and a field that no document has.
ModelReportOutcome report_on_model(const ModelReportOptions& options, const Run& run);

}  // namespace attune::workflows
