#include "attune/train/step_plan.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

const std::vector<std::int64_t> lengths = {3, 4, 2, 10, 1, 7, 5, 9, 8, 6};

TrainOptions over(double epochs) {
  TrainOptions options;
  options.epochs = epochs;
  options.batches.batch_tokens = 12;
  options.accumulation = 2;
  options.seed = 5;
  return options;
}

TEST(StepPlan, TheStepsOfAllEpochsTogetherAreItsTotal) {
  StepPlan plan(lengths, over(2.5));
  std::int64_t ends = 0;
  std::vector<std::vector<std::int64_t>> seen;
  for (std::int64_t step = 1; step <= plan.total_steps(); ++step) {
    StepPlan::Step one = plan.step(step);
    ends += one.ends_epoch;
    for (const auto& batch : one.micro_batches) seen.push_back(batch);
  }
  EXPECT_EQ(ends, 3);
  BatchOptions batches = over(1).batches;
  batches.seed = 5;
  std::vector<std::vector<std::int64_t>> expected;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (const auto& batch : make_batches(lengths, batches, epoch)) expected.push_back(batch);
  ASSERT_LT(seen.size(), expected.size());  // half of the last epoch is left out
  expected.resize(seen.size());
  EXPECT_EQ(seen, expected);
}

TEST(StepPlan, ManyEpochsArePlannedAndTooManyRefused) {
  EXPECT_GT(StepPlan(lengths, over(20000)).total_steps(), 60000);
  for (double epochs : {1e12, 1e300, 0.0, -1.0}) EXPECT_THROW(StepPlan(lengths, over(epochs)), Error) << epochs;
  TrainOptions steps = over(1);
  steps.epochs.reset();
  steps.max_steps = std::int64_t{1} << 60;
  EXPECT_THROW(StepPlan(lengths, steps), Error);
}

TEST(StepPlan, PlanningStopsWhenItIsAskedTo) {
  std::atomic<bool> stop = true;
  EXPECT_THROW(StepPlan(lengths, over(1e6), attune::Run{.progress = {}, .cancel = &stop}), Cancelled);
}

}  // namespace
}  // namespace attune
