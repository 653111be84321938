#include "attune/workflows/clinical.h"

#include <set>
#include <string_view>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/workflows/clinical_baselines.h"
#include "attune/workflows/clinical_training.h"
#include "attune/workflows/evaluation_record.h"
#include "attune/workflows/tested_model.h"

namespace attune::workflows {

namespace {

TestNaming naming_of(const ClinicalData& data) {
  std::set<std::pair<std::string_view, std::string_view>> unfamiliar;  // ids alone may repeat; copies are on one side
  for (const Document& document : data.unfamiliar.items) unfamiliar.emplace(document.id, document.text);
  return {.group = [&data](const Document& document) { return data.group_of(document); },
          .slices =
              [unfamiliar = std::move(unfamiliar)](const Document& document) {
                std::vector<std::string> slices = slices_by(document, {"source"});
                if (unfamiliar.empty()) return slices;
                bool novel = unfamiliar.contains({document.id, document.text});
                slices.insert(slices.begin(), novel ? "unfamiliar" : "familiar");
                return slices;
              }};
}

void add_commands(ClinicalReport& report, const ClinicalOptions& options) {
  report.commands = {
      {"Classify new documents:", "attune classify " + report.model_directory + " --input new.jsonl --json"},
      {"Measure it on your own labelled documents:",
       "attune evaluate " + report.model_directory + " --data mine.jsonl --by source"},
      {"Run the whole job on your own labelled documents:",
       "attune workflow clinical --data mine.jsonl --output " + options.output.string() + "-mine"}};
}

/// The last step: tests the model and writes predictions.jsonl, evaluation.json and report.html.
class Evaluation {
 public:
  Evaluation(const ClinicalOptions& options, const ClinicalData& data, const Path& model)
      : options_(options), data_(data), model_(model) {}

  void write(const std::vector<BaselineAnswers>& baselines, const Run& run) {
    log_info("evaluate: familiar and unfamiliar test documents, intervals over groups");
    Bundle bundle = load_bundle(model_);
    Documents tests = data_.tests();
    ModelTest test = test_model(bundle, tests, naming_of(data_), run);
    report_.subject = "Clinical documents: how far the classifier can be trusted";
    report_.program = "attune " ATTUNE_VERSION;
    report_.calibration = *bundle.contract.calibration;
    report_.systems = {{"Transformer", "BERT trained here from scratch"}};
    for (const BaselineAnswers& one : baselines) {
      report_.systems.push_back({one.name, one.description});
      test.run.baselines.push_back({one.answers, one.confidence});
    }
    add_data(report_, data_, options_.output);
    add_training(report_, options_, model_);
    add_commands(report_, options_);
    add_test_results(report_, test.run, {.seed = options_.seed});
    Json record = evaluation_record(report_);
    write_file_atomically(options_.output / "predictions.jsonl", prediction_lines(bundle, tests, test.answers));
    write_file_atomically(options_.output / "evaluation.json", to_text(record, 2) + "\n");
    bundle.contract.evaluation = record;
    save_contract(bundle);
    write_file_atomically(options_.output / "report.html", clinical_report_html(report_));
  }

 private:
  const ClinicalOptions& options_;
  const ClinicalData& data_;
  const Path& model_;
  ClinicalReport report_;
};

}  // namespace

ClinicalOutcome run_clinical(const ClinicalOptions& options, const Run& run) {
  check_training_options(options);
  Steps steps(options.output);
  ClinicalData data = prepare_clinical_data(options, steps, run);
  std::vector<BaselineAnswers> baselines = clinical_baselines(options, data, steps, run);
  ClinicalTraining training = train_clinical(options, data, steps, run);
  Path report = options.output / "report.html", record = options.output / "evaluation.json";
  std::string baselines_hash = sha256_of_file(options.output / "baselines.json");
  steps.run({.name = "evaluate",
             .fingerprint = fingerprint_of({training.fingerprint, baselines_hash, data.name}),
             .results = {report, record, options.output / "predictions.jsonl"}},
            [&] { Evaluation(options, data, training.model).write(baselines, run); });
  return {.table = evaluation_table(read_json(record), true), .report = report};
}

}  // namespace attune::workflows
