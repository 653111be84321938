#pragma once

#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/workflows/clinical.h"
#include "attune/workflows/clinical_report.h"
#include "attune/workflows/steps.h"

namespace attune::workflows {

/// The documents of the job, split.
struct ClinicalData {
  Documents train, validation, test, unfamiliar;  // unfamiliar: empty where nothing was held out
  std::vector<std::string> labels;                // sorted
  std::vector<std::string> group_fields, held_out_fields;
  JsonValue manifest;  // split.json
  std::string name;    // for people: "3,138 bundled documents"
  std::string hash;    // SHA-256 of the documents as they came
  std::vector<std::string> warnings;
  bool synthetic = false;

  /// test, then unfamiliar.
  Documents tests() const;
  std::string group_of(const Document& document) const;
};

/// Reads the documents (or makes the bundled ones), checks that a classifier can be trained on them, and splits them
/// into output/data; the split of an earlier run is kept where nothing changed. Throws Error before anything is
/// written: fewer than two labels, a label with too few documents to be in training, and as read_documents() and
/// split_documents() do.
ClinicalData prepare_clinical_data(const ClinicalOptions& options, const Steps& steps, const Run& run);

/// Fills parts, leaks and the other facts on data of the report.
void add_data(ClinicalReport& report, const ClinicalData& data, const Path& output);

}  // namespace attune::workflows
