#include <fmt/core.h>

#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/workflows/model_report.h"

namespace attune {

namespace {

struct EvaluateArguments {
  std::string model, data;
  std::optional<std::string> output;
  bool json = false;
  workflows::ModelReportOptions options;
};

int run_evaluate(const EvaluateArguments& a, const Session& session) {
  workflows::ModelReportOptions options = a.options;
  options.model = a.model;
  options.data = a.data;
  if (a.output) options.output = *a.output;
  options.seed = session.seed;
  workflows::ModelReportOutcome outcome = workflows::report_on_model(options, session.run);
  for (const std::string& warning : outcome.warnings) log_warning(warning);
  if (a.json)
    fmt::print("{}\n", to_text(*outcome.record));
  else
    fmt::print("{}", outcome.table);
  if (options.output && !a.json) fmt::print("{}\n", (*options.output / "report.html").string());
  return 0;
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "Trust", "measures a classifier on labelled documents, with intervals, by slices",
          "attune evaluate clinical/run/model --data clinical/data/unfamiliar.jsonl --by source,template",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<EvaluateArguments>();
            arguments.positional("MODEL", a->model, "model directory");
            arguments.required("--data", a->data, "labelled documents; a null label: a document of no category");
            arguments.option("--by", a->options.by, "fields to slice by, as in source,template", true);
            arguments.option("--group", a->options.group,
                             "field whose documents belong together, for the intervals; else patient, where there is "
                             "one");
            arguments.option("--output", a->output, "directory for evaluation.json, predictions.jsonl and report.html");
            arguments.flag("--json", a->json, "the figures as one JSON line");
            arguments.option("--text-field", a->options.format.text_field, "the field that holds the text");
            arguments.option("--label-field", a->options.format.label_field, "the field that holds the label");
            arguments.flag("--skip-bad", a->options.format.skip_bad, "leave out bad lines, and count them");
            return [a](const Session& session) { return run_evaluate(*a, session); };
          }};
}

}  // namespace attune
