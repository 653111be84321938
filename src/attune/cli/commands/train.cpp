#include <fmt/core.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/train/learn.h"

namespace attune {

namespace {

struct TrainArguments {
  std::string file, output = "run";
  std::vector<std::string> settings;
  std::optional<std::string> task, data, model;
  bool resume = false;
};

/// The run file, or that of a run to go on with, with the flags laid over it.
RunConfig run_config(const TrainArguments& a, std::uint64_t seed) {
  std::string file = a.file;
  if (Path own = Path(a.output) / "config.toml"; file.empty() && a.resume && std::filesystem::exists(own))
    file = own.string();
  Json run = file.empty() ? Json::object() : read_toml(file);
  if (a.task) run["task"] = *a.task;
  if (a.data) run["data"]["train"] = *a.data;
  if (a.model) run["model"] = {{"from", *a.model}};
  if (seed != 0) run["seed"] = seed;
  for (const std::string& setting : a.settings) {
    check_usage(setting.find('=') != std::string::npos && !setting.starts_with('='),
                "--set {}: expected key=value, for instance train.learning_rate=1e-4", setting);
    apply_setting(run, setting);
  }
  if (file.empty()) {
    check_usage(run.contains("task"), "nothing says what to train: give a run file, or --task, --data and --model");
    check_usage(run.contains("data"), "nothing names the data: give --data, or a run file");
    check_usage(run.contains("model"), "nothing names a model: give --model, or --set model.architecture=NAME");
  }
  return RunConfig::read(run, file.empty() ? "the command line" : file);
}

int run_train(const TrainArguments& a, const Session& session) {
  TrainingResult result = learn(run_config(a, session.seed), a.output, a.resume, session.run);
  if (result.was_finished) log_info("this run was finished before: nothing to do");
  fmt::print("{} steps; the best weights are of step {}\n", result.steps, result.best_step);
  for (const EvaluationRecord& evaluation : result.evaluations)
    if (evaluation.step == result.best_step)
      for (const auto& [name, value] : evaluation.metrics) fmt::print("{:<12} {:.4f}\n", name, value);
  fmt::print("model: {}\n", (Path(a.output) / "model").string());
  return 0;
}

}  // namespace

Command train_command() {
  return {
      "train", "Train and adapt", "trains a model from a run file, or goes on with an interrupted run",
      "attune train clinical/run.toml --output run    (after: attune example clinical --output clinical; attune "
      "split ..., see its README)",
      [](Arguments& arguments) -> Action {
        auto a = std::make_shared<TrainArguments>();
        arguments.optional_positional("run.toml", a->file, "the run file; its keys are listed in docs/train.md");
        arguments.option("--output", a->output, "directory of the run");
        arguments.option("--set", a->settings,
                         "key=value over the run file's, e.g. train.learning_rate=1e-4; repeatable");
        arguments.choice("--task", a->task, {"classify", "mlm", "lm", "translate", "tag", "answer"}, "what it learns");
        arguments.option("--data", a->data, "training file, or a directory that `attune split` made");
        arguments.option("--model", a->model, "model directory to begin from");
        arguments.flag("--resume", a->resume, "go on with the run in --output; it needs no run file");
        return [a](const Session& session) { return run_train(*a, session); };
      }};
}

}  // namespace attune
