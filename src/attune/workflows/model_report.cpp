#include "attune/workflows/model_report.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/workflows/evaluation_record.h"
#include "attune/workflows/tested_model.h"

namespace attune::workflows {

namespace {

bool has_field(const Documents& documents, const std::string& field) {
  for (const Document& document : documents.items)
    if (document.fields.count(field)) return true;
  return false;
}

void check_field(const Documents& documents, const std::string& field, const char* option) {
  if (has_field(documents, field)) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : documents.items.at(0).fields) names.push_back(name);
  std::string near = nearest_name(field, names);
  fail("{}: no document has the field \"{}\" ({}){}", documents.source, field, option,
       near.empty() ? "" : ": did you mean \"" + near + "\"?");
}

std::string group_field(const ModelReportOptions& options, const Documents& documents) {
  if (options.group) check_field(documents, *options.group, "--group");
  if (options.group) return *options.group;
  return has_field(documents, "patient") ? "patient" : "";
}

TestNaming naming_of(const ModelReportOptions& options, const std::string& group) {
  return {.group =
              [group](const Document& document) {
                auto found = document.fields.find(group);
                // One of no group is a group of its own, and no other's, whatever ids it shares.
                return found == document.fields.end() ? fmt::format("\n{}", document.line) : found->second;
              },
          .slices = [by = options.by](const Document& document) { return slices_by(document, by); }};
}

std::vector<std::string> warnings_of(const Bundle& bundle, const std::string& data_hash) {
  std::vector<std::string> warnings;
  for (const DataSource& source : bundle.contract.data)
    if (source.sha256 == data_hash)
      warnings.push_back("The model was made with these very documents (its " + source.part +
                         " part): the figures say nothing about new ones.");
  if (!bundle.contract.calibration)
    warnings.push_back(
        "The model was not calibrated (attune calibrate): its confidence is not to be trusted, and nothing is answered "
        "automatically here.");
  return warnings;
}

ClinicalReport::Part part_of(const ModelTest& test, const ClinicalReport& report) {
  ClinicalReport::Part part{.name = "test", .by_label = std::vector<std::int64_t>(report.labels.size())};
  std::vector<std::string> groups;
  for (const TestDocument& document : test.run.documents) {
    groups.push_back(document.group);
    ++part.documents;
    ++(document.truth < 0 ? part.uncategorised : part.by_label[static_cast<std::size_t>(document.truth)]);
  }
  part.groups = evaluate::Groups::by_name(groups).count;
  return part;
}

}  // namespace

ModelReportOutcome report_on_model(const ModelReportOptions& options, const Run& run) {
  Bundle bundle = load_classifier(options.model);
  DocumentFormat format = options.format;
  format.labels = Labels::nullable;
  Documents documents = read_documents(options.data, format);
  for (const std::string& field : options.by) check_field(documents, field, "--by");
  std::string group = group_field(options, documents), hash = sha256_of_file(options.data);
  ModelTest test = test_model(bundle, documents, naming_of(options, group), run);
  ClinicalReport report;
  report.subject = "How far " + options.model.string() + " can be trusted";
  report.data_name = fmt::format("{} documents of {}", documents.items.size(), options.data.filename().string());
  report.model_directory = options.model.string();
  report.program = "attune " ATTUNE_VERSION;
  report.labels = bundle.contract.labels;
  report.systems = {{"model", options.model.string()}};
  if (bundle.contract.calibration) report.calibration = *bundle.contract.calibration;
  if (!group.empty()) report.group_fields = {group};
  report.data_hash = hash;
  report.warnings = warnings_of(bundle, hash);
  if (!documents.skipped.empty())
    report.warnings.push_back(fmt::format("{} bad lines of the data were left out.", documents.skipped.size()));
  report.parts = {part_of(test, report)};
  report.commands = {{"Classify new documents:", "attune classify " + report.model_directory + " --input new.jsonl"}};
  add_test_results(report, test.run, {.seed = options.seed});
  Json record = evaluation_record(report);
  record["model"] = options.model.string();
  record["data"] = {{"file", options.data.string()}, {"sha256", hash}, {"documents", documents.items.size()}};
  if (options.output) {
    std::string page = clinical_report_html(report);
    make_directories(*options.output);
    write_file_atomically(*options.output / "predictions.jsonl", prediction_lines(bundle, documents, test.answers));
    write_file_atomically(*options.output / "evaluation.json", to_text(record, 2) + "\n");
    write_file_atomically(*options.output / "report.html", page);
  }
  return {.table = evaluation_table(record, false), .record = record, .warnings = report.warnings};
}

}  // namespace attune::workflows
