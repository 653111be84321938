#include "attune/bench/attention.h"

#include <gtest/gtest.h>

#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/bench/attention_cases.h"

namespace attune::bench {
namespace {

AttentionCase of(std::int64_t length, const char* mask) { return {.name = "", .lengths = {length}, .mask = mask}; }

/// Pairs of query and key, from the number of operations.
double pairs(const AttentionCase& one) {
  return one.operations() / (one.backward ? 14 : 4) / static_cast<double>(one.heads * one.head_dim);
}

TEST(AttentionCase, CountsThePairsThatTheMaskLeaves) {
  EXPECT_EQ(pairs(of(100, "bidirectional")), 100 * 100);
  EXPECT_EQ(pairs(of(100, "causal")), 50 * 101);
  // Each query sees 257 keys but for the 128 at either end, which lack 1 to 128.
  EXPECT_EQ(pairs(of(1000, "window")), 1000 * 257 - 128 * 129);
  // Beyond windows of 513: 16 global queries see all 1000, and of the other 984 those at 272 or later lack global keys
  // in their window; each at 16 + i begins 256 before itself.
  double expected = 16.0 * 1000;
  for (int i = 16; i < 1000; ++i) {
    const int begin = std::max(0, i - 256), end = std::min(1000, i + 257);
    expected += end - begin + std::min(begin, 16);
  }
  EXPECT_EQ(pairs(of(1000, "longformer")), expected);
}

TEST(AttentionCases, RaggedOnesAreDocumentsOf20To500Tokens) {
  std::set<std::string> names;
  for (const AttentionCase& one : attention_cases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " twice";
    if (one.lengths.size() == 1) continue;
    EXPECT_EQ(one.lengths.size(), 32u);
    EXPECT_GE(std::ranges::min(one.lengths), 20);
    EXPECT_LE(std::ranges::max(one.lengths), 500);
    EXPECT_GT(std::ranges::max(one.lengths), 2 * std::ranges::min(one.lengths));
  }
}

TEST(AttentionCases, AreWrittenForPeersWithTheirLengths) {
  const Path directory = Path(testing::TempDir()) / "attention-cases";
  std::filesystem::remove_all(directory);
  write_attention_cases(directory);
  std::vector<Json> lines;
  for_each_line(directory / "cases.jsonl",
                [&](std::int64_t, std::string_view line) { lines.push_back(Json::parse(line)); });
  std::filesystem::remove_all(directory);
  const std::vector<AttentionCase> all = attention_cases();
  ASSERT_EQ(lines.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(lines[i]["case"], all[i].name);
    EXPECT_EQ(lines[i]["lengths"].get<std::vector<std::int64_t>>(), all[i].lengths);
    EXPECT_EQ(lines[i]["operations"].get<double>(), all[i].operations());
  }
}

TEST(BenchAttention, TellsSpeedAndMemoryOfTheCaseThatIsWanted) {
  std::vector<Measurement> told;
  attention({[&](const Measurement& m) { told.push_back(m); }, "2048 alibi, memory"});
  ASSERT_FALSE(told.empty());
  for (const Measurement& m : told) {
    EXPECT_EQ(m.name, "2048 alibi, memory");
    EXPECT_EQ(m.unit, "MB");
    EXPECT_LT(m.value, 60);  // the scores alone would be 201
  }
}

}  // namespace
}  // namespace attune::bench
