#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/train/trainer.h"

namespace attune {

/// The place of a run between its steps: what a checkpoint's state.json holds.
struct RunState {
  std::int64_t step = 0;
  std::string fingerprint;
  std::int64_t best_step = 0, without_improvement = 0;
  std::optional<double> best;
  bool finished = false, stopped_early = false;
};

/// directory/metrics.jsonl and directory/checkpoints/step-N, each checkpoint whole or absent: weights, moments,
/// averaged weights, state.
class RunDirectory {
 public:
  explicit RunDirectory(Path path) : path_(std::move(path)) {}

  Path model() const { return path_ / "model"; }
  /// Of the newest checkpoint; none where nothing was saved yet.
  std::optional<Path> newest_checkpoint() const;
  static RunState read_state(const Path& checkpoint);
  /// Writes step-N and removes all older ones but one.
  void save(const RunState& state, const std::vector<NamedTensor>& weights,
            const std::vector<NamedTensor>& optimizer) const;
  void write_finished(const RunState& state) const;
  std::optional<RunState> read_finished() const;

  void append(const StepRecord& record);
  void append(const EvaluationRecord& record);
  /// Keeps the metrics up to `step` alone, and returns them: what came after the checkpoint is done again.
  void rewind_metrics(std::int64_t step, TrainingResult& result) const;

 private:
  void append_line(const std::string& line);

  Path path_;
};

}  // namespace attune
