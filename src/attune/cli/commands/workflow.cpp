#include <fmt/core.h>

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/train/step_plan.h"
#include "attune/workflows/clinical.h"

namespace attune {

namespace {

struct ClinicalArguments {
  std::string output = "clinical";
  std::optional<std::string> data, rules;
  std::optional<double> epochs, pretraining_epochs;
  std::vector<std::string> group, hold_out;
  workflows::ClinicalOptions options;
  bool chosen = false;
};

/// Field names as given; '' stands for none.
std::vector<std::string> fields_of(const std::vector<std::string>& given) {
  std::vector<std::string> fields;
  for (const std::string& field : given)
    if (!field.empty()) fields.push_back(field);
  return fields;
}

int run_clinical_workflow(const ClinicalArguments& a, const Session& session) {
  workflows::ClinicalOptions options = a.options;
  options.output = a.output;
  if (a.data) options.data = *a.data;
  if (a.rules) options.rules = *a.rules;
  if (a.epochs) options.model.epochs = *a.epochs;
  if (a.pretraining_epochs) options.model.pretraining_epochs = *a.pretraining_epochs;
  if (!a.group.empty()) options.group_fields = fields_of(a.group);
  if (!a.hold_out.empty()) options.held_out_fields = fields_of(a.hold_out);
  if (session.seed != 0) options.seed = session.seed;
  workflows::ClinicalOutcome outcome = workflows::run_clinical(options, session.run);
  fmt::print("{}\n{}\n", outcome.table, outcome.report.string());
  return 0;
}

void declare_clinical(Arguments& arguments, ClinicalArguments& a) {
  arguments.option("--output", a.output, "directory of the job; a second run does only what changed");
  arguments.option("--data", a.data, "your labelled documents; without: the bundled, generated ones");
  arguments.option("--text-field", a.options.format.text_field, "the field that holds the text");
  arguments.option("--label-field", a.options.format.label_field, "the field that holds the label, or null");
  arguments.option("--id-field", a.options.format.id_field, "the field that holds the id");
  arguments.flag("--skip-bad", a.options.format.skip_bad, "leave out bad lines, and count them, instead of stopping");
  arguments.needs({"--text-field", "--label-field", "--id-field", "--skip-bad"}, "--data");
  arguments.option("--group", a.group,
                   "fields whose documents stay together, '' for none; else patient, where there is one", true);
  arguments.option("--hold-out", a.hold_out,
                   "fields whose values the unfamiliar test has for itself, '' for none; else template,source, where "
                   "there are such",
                   true);
  arguments.option("--rules", a.rules, "rules file of the rules baseline; else OUTPUT/rules.toml where there is one");
  arguments.option("--target-error", a.options.target_error, "error to keep to among documents answered automatically",
                   {.above = 0, .below = 1});
  arguments.option("--epochs", a.epochs, "of training the classifier, at the most",
                   {.at_most = StepPlan::most_epochs, .above = 0});
  arguments.option("--pretraining-epochs", a.pretraining_epochs, "of masked-word pretraining; 0: none",
                   {.at_least = 0, .at_most = StepPlan::most_epochs});
}

}  // namespace

Command workflow_command() {
  return {"workflow", "Train and adapt", "a whole job from documents to a report",
          "attune workflow clinical --output clinical", [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ClinicalArguments>();
            Arguments clinical = arguments.subcommand(
                "clinical", "documents: split, baselines, training, calibration, evaluation, routing, report",
                "attune workflow clinical --data documents.jsonl --output clinical", a->chosen);
            declare_clinical(clinical, *a);
            return [a](const Session& session) { return run_clinical_workflow(*a, session); };
          }};
}

}  // namespace attune
