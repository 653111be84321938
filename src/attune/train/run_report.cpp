#include "attune/train/run_report.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/report/line_plot.h"
#include "attune/report/page.h"
#include "attune/report/text_table.h"

namespace attune {

namespace {

using report::Html;

report::LineSeries series(const TrainingResult& result, const std::string& name, double StepRecord::*figure) {
  report::LineSeries line{.name = name, .points = {}};
  for (const StepRecord& step : result.history) line.points.push_back({static_cast<double>(step.step), step.*figure});
  return line;
}

Html loss_curves(const TrainingResult& result) {
  report::LinePlot plot{.title = "Loss",
                        .x_label = "step",
                        .y_label = "cross-entropy",
                        .series = {series(result, "training", &StepRecord::loss)}};
  plot.series[0].weight = report::LineSeries::Weight::faint;
  report::LineSeries validation{.name = "validation", .points = {}};
  for (const EvaluationRecord& evaluation : result.evaluations)
    for (const auto& [name, value] : evaluation.metrics)
      if (name == "loss") validation.points.push_back({static_cast<double>(evaluation.step), value});
  if (!validation.points.empty()) plot.series.push_back(validation);
  return report::figure(plot.svg());
}

Html small_curve(const std::string& title, const std::string& unit, report::LineSeries line) {
  report::LinePlot plot{.title = title, .x_label = "step", .y_label = unit, .series = {std::move(line)}};
  return report::figure(plot.svg());
}

Html evaluations(const TrainingResult& result) {
  report::Table table;
  table.columns.push_back({.name = "step"});
  for (const auto& [name, value] : result.evaluations.front().metrics) table.columns.push_back({.name = name});
  for (const EvaluationRecord& evaluation : result.evaluations) {
    std::vector<std::string> row = {
        fmt::format("{}{}", evaluation.step, evaluation.step == result.best_step ? " (kept)" : "")};
    for (const auto& [name, value] : evaluation.metrics) row.push_back(fmt::format("{:.4f}", value));
    table.rows.push_back(row);
  }
  return report::table(table);
}

}  // namespace

std::string run_report(const RunConfig& config, const Contract& contract, const TrainingResult& result) {
  report::Page page;
  page.title = "Training run: " + name_of(config.task);
  page.subtitle =
      fmt::format("{} steps{}; the weights kept are those of step {}", result.steps,
                  result.stopped_early ? ", ended early because validation no longer improved" : "", result.best_step);
  page.sections.push_back({"Loss",
                           "Falling on both sides is learning; a validation loss that turns up is learning by heart.",
                           loss_curves(result)});
  if (!result.evaluations.empty())
    page.sections.push_back(
        {"Evaluations", "On the validation part, which training does not see.", evaluations(result)});
  page.sections.push_back(
      {"Pace", "",
       report::columns({small_curve("Learning rate", "rate", series(result, "rate", &StepRecord::learning_rate)),
                        small_curve("Speed", "tokens/s", series(result, "speed", &StepRecord::tokens_per_second)),
                        small_curve("Gradient norm before clipping", "norm",
                                    series(result, "norm", &StepRecord::gradient_norm))})});
  std::vector<std::string> sources;
  for (const DataSource& source : contract.data)
    sources.push_back(
        fmt::format("{}: `{}`, {} records, sha256 `{}`", source.part, source.file, source.documents, source.sha256));
  page.sections.push_back({"Data and settings",
                           "The run is a function of these: the same files, settings and build give the same bits.",
                           report::list(sources) + report::code_block(to_toml(config.resolved()))});
  return page.html();
}

}  // namespace attune
