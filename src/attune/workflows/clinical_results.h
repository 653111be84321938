#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/evaluate/bootstrap.h"
#include "attune/evaluate/score_table.h"
#include "attune/workflows/clinical_report.h"

namespace attune::workflows {

struct TestDocument {
  std::string id, text;
  std::string group;                // patient; the id where there is no such field
  std::vector<std::string> slices;  // beside "all": "familiar", "unfamiliar", "source: Northgate"
  std::string origin;               // shown with the text: "source Northgate, template 12"
  int truth = -1;                   // index of the label; -1: of no category
  std::int64_t tokens = 0, chunks = 0;
  std::optional<double> novelty = {};  // needed where the contract has a novelty threshold
};

/// What all systems said about the same test documents.
struct TestRun {
  std::vector<TestDocument> documents;
  evaluate::ScoreTable logits;  // the Transformer's, [documents, labels], before the temperature
  struct Baseline {
    std::vector<int> answers;             // [documents]
    std::vector<double> confidence = {};  // [documents], or empty where it has none
  };
  std::vector<Baseline> baselines;  // in the order of ClinicalReport::systems, from the second on
};

/// Fills everything of the report that follows from test documents: slices, comparisons on the headline slice
/// ("unfamiliar" where there is one), confusion, calibration before and after, risk-coverage, what was routed and why,
/// novelty, and the examples. `labels`, `systems` and `calibration` must be set. Documents of no category count in
/// routing alone, where any automatic answer to them is wrong. Throws Error where lengths do not fit together or no
/// document has a category.
void add_test_results(ClinicalReport& report, const TestRun& run, const evaluate::BootstrapOptions& options = {});

}  // namespace attune::workflows
