#include "attune/bench/training.h"

#include <unistd.h>

#include <set>

#include "attune/base/error.h"
#include "attune/bench/peak_memory.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/training_case.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/models/architecture.h"
#include "attune/train/training_sets.h"

namespace attune::bench {

namespace {

/// A directory that is gone at the end.
struct Scratch {
  Path path = std::filesystem::temp_directory_path() / ("attune-bench-" + std::to_string(getpid()));
  Scratch() { make_directories(path); }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

struct Figures {
  double tokens_per_second = 0, peak_mb = 0, state_mb = 0;
};

Figures figures_of(const TrainingCase& one, const Run& run) {
  begin_peak_memory();
  Scratch scratch;
  WeightSource source{.checkpoint = nullptr, .initial = RandomKey{.seed = 1}.at("weights"), .trainable = true};
  std::unique_ptr<Model> model = build_model(*one.config, "the benchmark's model", std::move(source));
  const FixedSet data(one.examples);
  const TrainingJob job{.model = *model,
                        .data = data,
                        .evaluate = {},
                        .save_model = [](const Path&) {},  // the weights are of no use
                        .options = one.options,
                        .directory = scratch.path / "run",
                        .fingerprint = one.name};
  const TrainingResult result = train(job, Run{.progress = {}, .cancel = run.cancel});
  double tokens = 0, seconds = 0;
  for (const StepRecord& step : result.history) {
    if (step.step == 1) continue;
    tokens += static_cast<double>(step.tokens);
    seconds += static_cast<double>(step.tokens) / step.tokens_per_second;
  }
  return {.tokens_per_second = tokens / seconds,
          .peak_mb = peak_memory_mb(),
          .state_mb = static_cast<double>(model->parameters().count()) * 16e-6};
}

}  // namespace

void training(const Report& report, const Run& run) {
  ThreadsRestored restored;
  std::vector<TrainingCase> cases;
  if (report.wants("gpt2")) cases.push_back(language_model_case());
  if (report.wants("classifier")) cases.push_back(classifier_case());
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const double multiply_adds = kernels::multiply_add_rate();
    for (const TrainingCase& one : cases) {
      if (run.cancelled()) throw Cancelled("bench train: stopped");
      const Figures figures = figures_of(one, run);
      report({"train", one.name, threads, figures.tokens_per_second, "tokens/s",
              multiply_adds / one.operations_per_token});
      report({"train", one.name + ", peak memory", threads, figures.peak_mb, "MB", figures.state_mb});
    }
  }
}

void write_training_cases(const Path& directory) {
  write_directory_atomically(directory, [](const Path& inside) {
    for (const TrainingCase& one : {language_model_case(), classifier_case()})
      write_case(one, inside / (one.name + ".jsonl"));
  });
}

}  // namespace attune::bench
