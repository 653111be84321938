#include "attune/workflows/clinical_training.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/bundle/bundle.h"
#include "attune/data/split_files.h"
#include "attune/report/numbers.h"
#include "attune/tasks/calibrate.h"
#include "attune/train/learn.h"
#include "attune/train/step_plan.h"

namespace attune::workflows {

namespace {

Json new_model(const ClinicalModel& model) {
  return {{"architecture", "bert"},
          {"hidden_size", model.hidden_size},
          {"num_hidden_layers", model.num_hidden_layers},
          {"num_attention_heads", model.num_attention_heads},
          {"intermediate_size", model.intermediate_size},
          {"max_position_embeddings", model.max_position_embeddings},
          {"classifier_pooling", model.classifier_pooling},
          {"initializer_range", model.initializer_range}};
}

/// What both trainings have in common; the keys are run.toml's.
Json run_file(const ClinicalOptions& options, const std::string& task) {
  const ClinicalModel& model = options.model;
  Json run = {{"task", task}, {"seed", options.seed}};
  run["data"] = {{"train", (options.output / "data" / file_name_of(Part::train)).string()},
                 {"validation", (options.output / "data" / file_name_of(Part::validation)).string()},
                 {"text_field", options.format.text_field},
                 {"label_field", options.format.label_field}};
  run["model"] = new_model(model);
  run["tokenizer"] = {{"type", model.tokenizer}, {"vocab_size", model.vocab_size}, {"lowercase", false}};
  run["long"] = {{"policy", "chunk"}};
  run["train"] = {
      {"batch_tokens", model.batch_tokens}, {"weight_decay", model.weight_decay}, {"dropout", model.dropout}};
  return run;
}

Json pretraining_file(const ClinicalOptions& options) {
  Json run = run_file(options, "mlm");
  run["train"]["epochs"] = options.model.pretraining_epochs;
  run["train"]["learning_rate"] = options.model.pretraining_learning_rate;
  return run;
}

Json training_file(const ClinicalOptions& options) {
  const ClinicalModel& model = options.model;
  Json run = run_file(options, "classify");
  run["train"]["epochs"] = model.epochs;
  run["train"]["learning_rate"] = model.learning_rate;
  run["train"]["label_smoothing"] = model.label_smoothing;
  run["train"]["early_stopping"] = {{"metric", "macro_f1"}, {"patience", model.patience}};
  if (model.pretraining_epochs > 0) {
    run["model"] = {{"from", (options.output / "pretrain" / "model").string()}};
    run.erase("tokenizer");
  }
  return run;
}

/// One training as a step of the job: kept where nothing changed, gone on with where it was cut short.
std::string train_step(const std::string& name, const Json& file, const Path& own, const std::string& from,
                       const Steps& steps, const Run& run) {
  Steps::Step step{.name = name, .fingerprint = fingerprint_of({to_text(file), from}), .results = {own / "model"}};
  steps.run_resumable(step, own, [&] {
    try {
      learn(RunConfig::read(file, "the clinical workflow"), own, true, run);
    } catch (const Cancelled&) {
      throw Cancelled(name + ": stopped and saved: the same command goes on from here");
    }
  });
  return step.fingerprint;
}

void calibrate_model(const Path& model, const ClinicalOptions& options, const ClinicalData& data, const Run& run) {
  log_info("calibrate: temperature, thresholds, novelty");
  Bundle bundle = load_bundle(model);
  evaluate::CalibrationOptions calibration;
  calibration.threshold.target_error = options.target_error;
  CalibrationDocuments documents{.validation = data.validation,
                                 .hash = sha256_of_file(options.output / "data" / file_name_of(Part::validation)),
                                 .training = &data.train};
  calibrate_bundle(bundle, documents, calibration, run);
  save_contract(bundle);
}

/// A run's metrics.jsonl as one plot of its losses.
struct Curves {
  ClinicalReport::Plot loss;
  double seconds = 0, tokens = 0;
  std::vector<report::Point> macro_f1;
};

Curves read_curves(const Path& run, const std::string& title) {
  Curves curves;
  curves.loss = {.title = title, .y_label = "cross-entropy", .curves = {}, .best = {}};
  ClinicalReport::Curve training{.name = "training", .points = {}, .smoothed = true},
      validation{.name = "validation", .points = {}};
  for_each_line(run / "metrics.jsonl", [&](std::int64_t number, std::string_view text) {
    Json line = parse_json(text, (run / "metrics.jsonl").string() + ": line " + std::to_string(number));
    double step = line.value("step", 0.0);
    if (line.contains("loss")) {
      training.points.push_back({step, line["loss"]});
      double tokens = line["tokens"], rate = line["tokens_per_second"];
      curves.tokens += tokens;
      curves.seconds += rate > 0 ? tokens / rate : 0;
    }
    if (line.contains("evaluation.loss")) validation.points.push_back({step, line["evaluation.loss"]});
    if (line.contains("evaluation.macro_f1")) curves.macro_f1.push_back({step, line["evaluation.macro_f1"]});
  });
  curves.loss.curves = {training, validation};
  Json finished = read_json(run / "finished.json");
  auto best = finished.value("best_step", std::int64_t{0});
  for (const report::Point& point : validation.points)
    if (static_cast<std::int64_t>(point.x) == best) curves.loss.best = point;
  return curves;
}

std::string duration(double seconds) {
  auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

void add_run(ClinicalReport& report, const std::string& name, const Curves& curves) {
  report.training.push_back(curves.loss);
  report.training_facts.push_back(
      {name,
       fmt::format("{}, {} tokens, {} tokens/s", duration(curves.seconds),
                   report::with_thousands(static_cast<std::int64_t>(curves.tokens)),
                   report::with_thousands(static_cast<std::int64_t>(curves.tokens / std::max(curves.seconds, 1e-9))))});
}

}  // namespace

void check_training_options(const ClinicalOptions& options) {
  const ClinicalModel& model = options.model;
  check(model.epochs > 0 && model.epochs <= StepPlan::most_epochs, "--epochs is {}: give more than 0 and at most {}",
        model.epochs, StepPlan::most_epochs);
  check(model.pretraining_epochs >= 0 && model.pretraining_epochs <= StepPlan::most_epochs,
        "--pretraining-epochs is {}: give 0 (none) or more, at most {}", model.pretraining_epochs,
        StepPlan::most_epochs);
  evaluate::check_threshold_options({.target_error = options.target_error});
  // All else that a run file can be refused for.
  const std::string source = "the clinical workflow";
  if (model.pretraining_epochs > 0) RunConfig::read(pretraining_file(options), source);
  RunConfig::read(training_file(options), source);
}

ClinicalTraining train_clinical(const ClinicalOptions& options, const ClinicalData& data, const Steps& steps,
                                const Run& run) {
  std::string from = sha256_of_file(options.output / "data" / manifest_name);
  if (options.model.pretraining_epochs > 0) {
    log_info("pretrain: predicting masked words of the training documents");
    from = train_step("pretrain", pretraining_file(options), options.output / "pretrain", from, steps, run);
  }
  log_info("train: the classifier");
  Path own = options.output / "run", model = own / "model";
  from = train_step("train", training_file(options), own, from, steps, run);
  Steps::Step calibration{.name = "calibrate",
                          .fingerprint = fingerprint_of({from, std::to_string(options.target_error)}),
                          .results = {model / "attune.safetensors"}};
  steps.run(calibration, [&] { calibrate_model(model, options, data, run); });
  return {.model = model, .fingerprint = calibration.fingerprint};
}

void add_training(ClinicalReport& report, const ClinicalOptions& options, const Path& model) {
  Bundle bundle = load_bundle(model);
  const ModelFacts& facts = bundle.model->facts();
  const ClinicalModel& sizes = options.model;
  report.model_directory = model.string();
  report.training_facts.push_back(
      {"architecture", fmt::format("BERT, {} layers of {}, {} heads, vocabulary {}", facts.layers, facts.hidden_size,
                                   sizes.num_attention_heads, report::with_thousands(facts.vocab_size))});
  report.training_facts.push_back({"parameters", report::with_thousands(bundle.model->parameters().count())});
  if (sizes.pretraining_epochs > 0)
    add_run(report, "pretraining", read_curves(options.output / "pretrain", "Loss, masked-token pretraining"));
  Curves curves = read_curves(options.output / "run", "Loss, classification");
  add_run(report, "training", curves);
  ClinicalReport::Plot f1{.title = "Macro-F1 on validation documents", .y_label = "macro-F1", .curves = {}, .best = {}};
  f1.curves.push_back({.name = "validation", .points = curves.macro_f1});
  if (!curves.macro_f1.empty()) report.training.push_back(f1);
  report.training_facts.push_back({"seed", std::to_string(options.seed)});
  report.long_policy = fmt::format(
      "A document of more than {} tokens is read in chunks: whole sections are packed together, nothing is cut off, "
      "and "
      "what the chunks say is joined into one answer.",
      bundle.contract.long_policy.longest);
}

}  // namespace attune::workflows
