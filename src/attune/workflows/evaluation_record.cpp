#include "attune/workflows/evaluation_record.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/report/numbers.h"
#include "attune/report/text_table.h"

namespace attune::workflows {

namespace {

using report::fixed;
using report::percent;

Json to_json(const evaluate::Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json to_json(const evaluate::CalibrationFigures& figures) {
  return {{"ece", figures.ece}, {"brier", figures.brier}, {"nll", figures.nll}};
}

Json slice_json(const ClinicalReport& report, const ClinicalReport::Slice& slice) {
  Json out = {{"name", slice.name}, {"documents", slice.documents}, {"groups", slice.groups}};
  for (std::size_t s = 0; s < slice.systems.size(); ++s)
    out["systems"][report.systems[s].name] = {{"macro_f1", to_json(slice.systems[s].macro_f1)},
                                              {"accuracy", to_json(slice.systems[s].accuracy)}};
  return out;
}

std::string with_interval(const Json& interval) {
  return fmt::format("{} [{}, {}]", fixed(interval["value"]), fixed(interval["low"]), fixed(interval["high"]));
}

std::string routed_line(const Json& routed) {
  auto documents = routed["documents"].get<double>(), automatic = routed["automatic"].get<double>();
  std::string line = fmt::format("{}: {} of {} documents answered automatically", routed["name"].get<std::string>(),
                                 percent(documents > 0 ? automatic / documents : 0),
                                 report::with_thousands(routed["documents"].get<std::int64_t>()));
  if (automatic > 0)
    line += fmt::format(", {} of those wrong ({} of {})", percent(routed["wrong"].get<double>() / automatic),
                        routed["wrong"].get<std::int64_t>(), routed["automatic"].get<std::int64_t>());
  return line;
}

bool by_field(const std::string& slice) { return slice.find(": ") != std::string::npos; }

std::string figures_table(const Json& record, bool headline_only) {
  report::Table table{.columns = {{"test documents", report::Align::left}, {"number"}}, .rows = {}};
  table.caption = "Macro-F1 [95 % interval]";
  for (const auto& [name, figures] : record["slices"][0]["systems"].items()) table.columns.push_back({name});
  for (const Json& slice : record["slices"]) {
    std::string name = slice["name"];
    if (headline_only && by_field(name)) continue;
    std::vector<std::string> row{name, report::with_thousands(slice["documents"].get<std::int64_t>())};
    for (const auto& [system, figures] : slice["systems"].items()) row.push_back(with_interval(figures["macro_f1"]));
    table.rows.push_back(std::move(row));
  }
  return table.text();
}

}  // namespace

Json evaluation_record(const ClinicalReport& report) {
  Json record = {{"headline_slice", report.headline_slice}};
  record["slices"] = Json::array();
  for (const auto& slice : report.slices) record["slices"].push_back(slice_json(report, slice));
  record["comparisons"] = Json::array();
  for (const auto& comparison : report.comparisons)
    record["comparisons"].push_back({{"against", report.systems[comparison.baseline].name},
                                     {"macro_f1_difference", to_json(comparison.difference.macro_f1)},
                                     {"accuracy_difference", to_json(comparison.difference.accuracy)}});
  record["calibration"] = {{"temperature", report.calibration.temperature},
                           {"before", to_json(report.test_before)},
                           {"after", to_json(report.test_after)}};
  record["target_error"] = report.calibration.target_error;
  record["routed"] = Json::array();
  for (const auto& routed : report.routed)
    record["routed"].push_back({{"name", routed.name},
                                {"documents", routed.documents},
                                {"automatic", routed.automatic},
                                {"wrong", routed.wrong}});
  if (const auto& found = report.novelty_detection)
    record["novelty"] = {{"auroc", found->auroc},
                         {"detected", found->detected},
                         {"false_alarms", found->false_alarms},
                         {"known", found->known},
                         {"novel", found->novel}};
  record["confusion"] = {{"labels", report.labels}, {"counts", report.confusion}};
  return record;
}

std::string evaluation_table(const Json& record, bool headline_only) {
  std::string text = figures_table(record, headline_only);
  const Json& calibration = record["calibration"];
  text += fmt::format("\nCalibration error (ECE) on test documents: {} before, {} after\n",
                      percent(calibration["before"]["ece"]), percent(calibration["after"]["ece"]));
  text += fmt::format("Automatic part (target error {}):\n", percent(record["target_error"]));
  for (const Json& routed : record["routed"])
    if (!headline_only || !by_field(routed["name"])) text += "  " + routed_line(routed) + "\n";
  if (record.contains("novelty")) {
    const Json& novelty = record["novelty"];
    text +=
        fmt::format("Novelty: {} of {} documents of no category found, {} of the {} others held back, AUROC {}\n",
                    percent(novelty["detected"]), novelty["novel"].get<std::int64_t>(),
                    percent(novelty["false_alarms"]), novelty["known"].get<std::int64_t>(), fixed(novelty["auroc"]));
  }
  return text;
}

}  // namespace attune::workflows
