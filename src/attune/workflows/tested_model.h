#pragma once

#include <functional>

#include "attune/bundle/bundle.h"
#include "attune/data/documents.h"
#include "attune/tasks/classify.h"
#include "attune/workflows/clinical_results.h"

namespace attune::workflows {

/// How test documents are to be named in a report.
struct TestNaming {
  std::function<std::string(const Document&)> group;                // whose documents belong together
  std::function<std::vector<std::string>(const Document&)> slices;  // beside "all"
};

/// What a model said of labelled documents: the material of a report, and each document's answer.
struct ModelTest {
  TestRun run;                      // without baselines
  std::vector<Classified> answers;  // [documents]
};

/// Throws Error for a model that is no classifier and labels that it does not know.
ModelTest test_model(const Bundle& bundle, const Documents& documents, const TestNaming& naming, const Run& run);

/// "source: Northgate" for each of `fields` that the document has.
std::vector<std::string> slices_by(const Document& document, const std::vector<std::string>& fields);

/// JSON lines of {id, label (the true one), answer, confidence, scores, route, reasons, novelty, tokens, chunks}.
std::string prediction_lines(const Bundle& bundle, const Documents& documents, const std::vector<Classified>& answers);

}  // namespace attune::workflows
