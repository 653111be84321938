#include "attune/workflows/family_summary.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune::workflows {
namespace {

class Summary : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("attune_summary_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
    make_directories(directory_ / "results");
    write_file_atomically(
        directory_ / "costs.jsonl",
        R"({"family":"full","causal":true,"pass":"both","paper":"A 2017","tokens":512,"ms":1,"bytes":10}
{"family":"full","causal":true,"pass":"both","fit":[512,2048],"ms_exponent":[2.0,1.9,2.1],"bytes_exponent":[1,1,1]}
{"family":"low","causal":false,"pass":"both","paper":"B 2020","tokens":512,"skipped":"about 90 s"}
{"family":"none","causal":true,"pass":"both","paper":"C 2021","tokens":512,"ms":1,"bytes":10}
)");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void result(const std::string& family, const std::string& lines) const {
    write_file_atomically(directory_ / "results" / (family + ".jsonl"), lines);
  }
  FamilySummary summary() const { return summarise_families(directory_ / "costs.jsonl", directory_ / "results"); }

  Path directory_;
};

TEST_F(Summary, ARowHasTheFamilysCostsAndWhatItLoses) {
  result("full", R"({"probe":"perplexity","length":64,"perplexity":12.5}
{"probe":"perplexity","length":128,"perplexity":20}
{"probe":"needle","length":32,"depth":0,"accuracy":1.0}
{"probe":"needle","length":64,"depth":0,"accuracy":0.5}
{"probe":"needle","length":64,"depth":1,"accuracy":0.25}
{"probe":"needle","length":128,"depth":1,"accuracy":1.0}
{"probe":"copy","length":64,"depth":0.5,"accuracy":0.1}
)");
  const std::string table = summary().table;
  EXPECT_NE(table.find("| `full` | A 2017 | 2.00 ± 0.10 | 1.00 ± 0.00 | 12.5 | 20.0 | 25 % | 75 % | - | 10 % |"),
            std::string::npos)
      << table;
  EXPECT_NE(summary().plot.find("<svg"), std::string::npos);
}

TEST_F(Summary, ALengthThatAModelDoesNotTakeIsNone) {
  result("full", R"({"probe":"perplexity","length":64,"perplexity":12.5}
{"probe":"perplexity","length":128,"perplexity":20}
)");
  result("low", R"({"probe":"perplexity","length":64,"perplexity":5}
{"probe":"perplexity","length":128,"skipped":"the model takes 64 tokens"}
)");
  const std::string table = summary().table;
  EXPECT_NE(table.find("| `low` (masked) | B 2020 | - | - | 5.0 | none |"), std::string::npos) << table;
  EXPECT_LT(table.find("`full`"), table.find("`low`"));  // masked ones last: their perplexities are of another task
  EXPECT_LT(table.find("`low`"), table.find("`none`"));  // and those not trained behind them
}

TEST_F(Summary, AllAreTimedAtTheLongestLengthThatTheyHaveInCommon) {
  write_file_atomically(directory_ / "costs.jsonl",
                        R"({"family":"a","causal":true,"pass":"both","paper":"A","tokens":512,"ms":7,"bytes":1}
{"family":"a","causal":true,"pass":"both","paper":"A","tokens":1024,"ms":28,"bytes":1}
{"family":"a","causal":true,"pass":"both","paper":"A","tokens":2048,"skipped":"about 90 s"}
{"family":"b","causal":true,"pass":"forward","paper":"B","tokens":1024,"ms":1,"bytes":1}
{"family":"b","causal":true,"pass":"both","paper":"B","tokens":1024,"ms":5,"bytes":1}
{"family":"b","causal":true,"pass":"both","paper":"B","tokens":2048,"ms":10,"bytes":1}
)");
  const std::string table = summary().table;
  EXPECT_NE(table.find("ms for 1,024 tokens"), std::string::npos) << table;
  EXPECT_NE(table.find("| `a` | A | 28 |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `b` | B | 5 |"), std::string::npos) << table;
}

TEST_F(Summary, WithoutResultsThereAreCostsAndNoPlot) {
  EXPECT_NE(summary().table.find("| `full` | A 2017 | 2.00 ± 0.10 |"), std::string::npos);
  EXPECT_EQ(summary().plot, "");
}

TEST_F(Summary, ALineOfSomethingElseIsToldByFileAndLine) {
  result("full", "{\"probe\":\"perplexity\",\"length\":64,\"perplexity\":1}\n{\"step\": 3}\n");
  try {
    summary();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("full.jsonl, line 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attune::workflows
