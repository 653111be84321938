#pragma once

#include <optional>
#include <vector>

#include "attune/train/trainer.h"

namespace attune {

/// Which examples each step of a run sees: a function of lengths and options alone, so that a resumed run sees the
/// same. Counted in epochs, a step is `accumulation` batches of one epoch (the last of an epoch may have fewer);
/// counted in steps, batches run on over the end of the data.
class StepPlan {
 public:
  struct Step {
    std::vector<std::vector<std::int64_t>> micro_batches;  // of example numbers
    std::int64_t epoch = 0;                                // from 0
    bool ends_epoch = false;
  };

  /// The most that a run may be asked for: beyond, the number is a slip, and counting the steps would not end.
  static constexpr double most_epochs = 1e6;
  static constexpr std::int64_t most_steps = 1'000'000'000'000;

  /// Counts the steps of all epochs, because the schedule needs their total. Throws Error where there is no example,
  /// not exactly one of epochs and max_steps, or more than the most of them; Cancelled where the run is stopped.
  StepPlan(std::vector<std::int64_t> lengths, const TrainOptions& options, const Run& run = {});

  std::int64_t total_steps() const { return total_; }
  /// Steps from 1, in order; a resumed run may begin anywhere.
  Step step(std::int64_t number);

 private:
  void count_epochs(const Run& run);
  Step step_of_epochs(std::int64_t number);
  Step step_of_stream(std::int64_t number);

  std::vector<std::int64_t> lengths_;
  TrainOptions options_;
  std::int64_t total_ = 0;
  // Counted in epochs: the first step of each, and the batches of the one that was asked for last.
  std::vector<std::int64_t> first_steps_;
  std::int64_t epoch_ = -1;
  std::vector<std::vector<std::int64_t>> batches_;
  // Counted in steps: the stream behind the last step that was asked for.
  std::optional<BatchStream> stream_;
  std::int64_t streamed_ = 0;
};

}  // namespace attune
