#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/data/batches.h"
#include "attune/models/objective.h"
#include "attune/train/optimizer.h"
#include "attune/train/schedule.h"

namespace attune {

/// What a task learns from: numbered examples, of which some (masked tokens) are made anew each time they come by.
class TrainingSet {
 public:
  virtual ~TrainingSet() = default;
  virtual std::int64_t count() const = 0;
  virtual std::int64_t tokens(std::int64_t i) const = 0;
  /// The same for the same key; `key` is another one at each step.
  virtual Example example(std::int64_t i, const RandomKey& key) const = 0;
};

/// Named figures of one evaluation, in the order in which they are printed: {"loss", 0.41}, {"macro_f1", 0.83}.
using Metrics = std::vector<std::pair<std::string, double>>;

struct EarlyStopping {
  std::string metric;         // its name in Metrics; a loss or perplexity is better when lower, all else when higher
  std::int64_t patience = 0;  // evaluations without improvement before the run ends; 0: never ends early
};

struct TrainOptions {
  std::optional<double> epochs;  // one of the two
  std::optional<std::int64_t> max_steps;
  BatchOptions batches;
  std::int64_t accumulation = 1;  // micro-batches a step, with one mean over all their labels
  double learning_rate = 1e-3;
  Schedule::Shape schedule = Schedule::Shape::linear;
  std::optional<std::int64_t> warmup_steps;  // without: a sixteenth of the steps
  AdamWOptions adamw;
  double clip_norm = 1.0;  // 0: gradients are not clipped
  double label_smoothing = 0;
  std::vector<double> class_weights;
  double ema_decay = 0;               // 0: no averaged weights
  std::int64_t evaluate_every = 0;    // steps; 0: at the end of each epoch
  std::int64_t checkpoint_every = 0;  // steps; 0: at each evaluation
  EarlyStopping early_stopping = {"loss", 0};
  bool gradient_checkpointing = false;
  std::uint64_t seed = 0;
};

struct TrainingJob {
  Model& model;
  const TrainingSet& data;
  std::function<Metrics(const Model&, const Run&)> evaluate;  // may be empty: then the last weights are kept
  std::function<void(const Path&)> save_model;  // fills a directory with the model as it is now, ready to use
  TrainOptions options;
  Path directory;           // of the run: metrics.jsonl, checkpoints/, model/
  std::string fingerprint;  // of all that the run's bits depend on; a resume under another is refused
  bool resume = false;
  /// What an error calls an example: "line 12 (note-7)". May be empty: then its number, from 1.
  std::function<std::string(std::int64_t)> name_of_example = {};
};

struct StepRecord {
  std::int64_t step = 0, tokens = 0;
  double loss = 0, learning_rate = 0, gradient_norm = 0, tokens_per_second = 0;
};
struct EvaluationRecord {
  std::int64_t step = 0;
  Metrics metrics;
};
struct TrainingResult {
  std::int64_t steps = 0, best_step = 0;
  bool was_finished = false;  // a resumed run that had ended before: nothing was done
  bool stopped_early = false;
  std::vector<StepRecord> history;
  std::vector<EvaluationRecord> evaluations;
};

/// Trains to the end and leaves the best weights (by early_stopping.metric; the last ones without evaluation) in
/// directory/model and in `job.model`. Killed at any moment, a call with `resume` goes on to the same bits. Cancelled:
/// saves a checkpoint, throws Cancelled with the command to go on. A loss or gradient that is not finite is an Error
/// with the step, the examples of its batch and the last good checkpoint.
TrainingResult train(const TrainingJob& job, const Run& run);

}  // namespace attune
