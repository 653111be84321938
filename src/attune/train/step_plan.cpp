#include "attune/train/step_plan.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune {

StepPlan::StepPlan(std::vector<std::int64_t> lengths, const TrainOptions& options, const Run& run)
    : lengths_(std::move(lengths)), options_(options) {
  check(!lengths_.empty(), "training: there are no examples");
  check(options_.epochs.has_value() != options_.max_steps.has_value(), "training: give one of epochs and max_steps");
  options_.batches.seed = options_.seed;
  if (options_.max_steps) {
    total_ = *options_.max_steps;
    check(total_ >= 1 && total_ <= most_steps, "training: max_steps is {}: give 1 to {}", total_, most_steps);
  } else {
    count_epochs(run);
  }
}

void StepPlan::count_epochs(const Run& run) {
  const double epochs = *options_.epochs;
  check(epochs > 0 && epochs <= most_epochs, "training: epochs is {}: give more than 0 and at most {}", epochs,
        most_epochs);
  const auto all = static_cast<std::int64_t>(std::ceil(epochs));
  // Some million examples at a time, so that a caller who stops the run is heard.
  const std::int64_t together = std::max<std::int64_t>(1, 4'000'000 / static_cast<std::int64_t>(lengths_.size()));
  for (std::int64_t begin = 0; begin < all; begin += together) {
    if (run.cancelled()) throw Cancelled("training was stopped before its first step: nothing was trained");
    run.report({.doing = "counting steps", .done = begin, .total = all, .unit = "epochs", .detail = ""});
    std::int64_t epoch = begin;
    for (std::int64_t batches : count_batches(lengths_, options_.batches, begin, std::min(all, begin + together))) {
      first_steps_.push_back(total_ + 1);
      std::int64_t steps = (batches - 1) / options_.accumulation + 1;
      double part = std::min(1.0, epochs - static_cast<double>(epoch++));  // the last epoch may be a part of one
      total_ += std::max<std::int64_t>(1, std::llround(static_cast<double>(steps) * part));
    }
  }
}

StepPlan::Step StepPlan::step(std::int64_t number) {
  check(number >= 1 && number <= total_, "training: there is no step {} among {}", number, total_);
  return options_.max_steps ? step_of_stream(number) : step_of_epochs(number);
}

StepPlan::Step StepPlan::step_of_epochs(std::int64_t number) {
  auto after = std::upper_bound(first_steps_.begin(), first_steps_.end(), number);
  std::int64_t epoch = after - first_steps_.begin() - 1;
  if (epoch != epoch_) epoch_ = epoch, batches_ = make_batches(lengths_, options_.batches, epoch);
  auto begin = (number - first_steps_[static_cast<std::size_t>(epoch)]) * options_.accumulation;
  auto end = std::min(static_cast<std::int64_t>(batches_.size()), begin + options_.accumulation);
  bool ends = number == total_ || (after != first_steps_.end() && number + 1 == *after);
  return {{batches_.begin() + begin, batches_.begin() + end}, epoch, ends};
}

StepPlan::Step StepPlan::step_of_stream(std::int64_t number) {
  if (!stream_ || number <= streamed_) stream_.emplace(lengths_, options_.batches), streamed_ = 0;
  Step step;
  for (; streamed_ < number; ++streamed_) {
    step.micro_batches.clear();
    step.epoch = stream_->place().epoch;
    for (std::int64_t i = 0; i < options_.accumulation; ++i) step.micro_batches.push_back(stream_->next());
  }
  step.ends_epoch = number == total_ || stream_->place().epoch != step.epoch;
  return step;
}

}  // namespace attune
