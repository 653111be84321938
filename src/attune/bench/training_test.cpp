#include <gtest/gtest.h>

#include <numeric>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bench/peak_memory.h"
#include "attune/bench/training.h"
#include "attune/bench/training_case.h"
#include "attune/tensor/tensor.h"

namespace attune::bench {
namespace {

TEST(PeakMemory, IsOfTheTimeSinceItBeganAndCountsWhatWasGivenBack) {
  constexpr std::int64_t values = 32 << 20;  // 134 MB
  begin_peak_memory();
  const double before = peak_memory_mb();
  { Tensor written = Tensor::full({values}, 1); }
  EXPECT_GT(peak_memory_mb(), before + 120);
  begin_peak_memory();
  EXPECT_LT(peak_memory_mb(), before + 60);
}

TEST(TrainingCase, OfTheLanguageModelIsSixteenSequencesOf256AStep) {
  const TrainingCase one = language_model_case();
  EXPECT_EQ(one.options.batches.batch_size, 16);
  ASSERT_EQ(one.examples.size(), 16u * static_cast<std::size_t>(*one.options.max_steps));
  for (const Example& example : one.examples) {
    EXPECT_EQ(example.chunks.at(0).size(), 256u);
    EXPECT_EQ(example.labels, example.chunks[0]);
  }
  EXPECT_NE(one.examples[0].labels, one.examples[1].labels);
}

TEST(TrainingCase, IsWrittenForPeersWithEveryExample) {
  const TrainingCase one = language_model_case();
  const Path file = Path(testing::TempDir()) / "gpt2.jsonl";
  write_case(one, file);
  std::vector<Json> lines;
  for_each_line(file, [&](std::int64_t, std::string_view line) { lines.push_back(Json::parse(line)); });
  std::filesystem::remove(file);
  ASSERT_EQ(lines.size(), one.examples.size() + 1);
  EXPECT_EQ(lines[0]["case"], "gpt2");
  EXPECT_EQ(lines[0]["config"]["resid_pdrop"], 0.1);
  EXPECT_EQ(lines[7]["chunks"][0].get<std::vector<std::int64_t>>(), one.examples[6].chunks[0]);
}

TEST(BenchTrain, StopsWhenAsked) {
  std::atomic<bool> cancel{true};
  EXPECT_THROW(training({[](const Measurement&) {}, "gpt2"}, attune::Run{.progress = {}, .cancel = &cancel}),
               Cancelled);
}

}  // namespace
}  // namespace attune::bench
