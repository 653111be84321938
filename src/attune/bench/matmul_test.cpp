#include "attune/bench/matmul.h"

#include <gtest/gtest.h>

#include <atomic>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/bench/bench.h"

namespace attune::bench {
namespace {

TEST(BenchMatmul, StopsWhenAskedAndGivesTheThreadsBack) {
  const int before = num_threads();
  std::atomic<bool> cancel{true};
  EXPECT_THROW(matmul(Report{[](const Measurement&) {}}, attune::Run{.progress = {}, .cancel = &cancel}), Cancelled);
  EXPECT_EQ(num_threads(), before);
}

TEST(Bench, ACaseThatNoneHasIsAnErrorWithTheCases) {
  for (const Bench& bench : benches()) {
    EXPECT_NO_THROW(check_case(bench, ""));
    for (const std::string& name : bench.cases) EXPECT_NO_THROW(check_case(bench, name));
    try {
      check_case(bench, "nosuch");
      ADD_FAILURE() << bench.name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(bench.cases.back()), std::string::npos) << error.what();
    }
  }
}

TEST(Bench, AModelsFilesAreTakenByThoseThatHaveCasesForThem) {
  for (const Bench& bench : benches()) {
    if (bench.name != "generate") {
      EXPECT_THROW(with_model(bench), Error) << bench.name;
      continue;
    }
    const Bench with = with_model(bench);
    EXPECT_NO_THROW(check_case(with, "cold start"));
    EXPECT_THROW(check_case(with, "eight together"), Error);
    const Report report{.tell = [](const Measurement&) {}, .only = "", .model = "no-such-model.gguf"};
    EXPECT_THROW(with.run(report, {}), Error);
  }
}

TEST(BenchMeasurement, IsOneLineOfJsonWithTheAgreedKeys) {
  EXPECT_EQ(json_line({"matmul", "4x768x3072", 2, 1.5, "GFLOP/s", 3.0}),
            R"({"bench":"matmul","case":"4x768x3072","threads":2,"value":1.5,"unit":"GFLOP/s","limit":3.0})");
}

}  // namespace
}  // namespace attune::bench
