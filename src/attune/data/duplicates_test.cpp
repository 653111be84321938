#include "attune/data/duplicates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"

namespace attune {
namespace {

using Pairs = std::set<std::pair<std::int64_t, std::int64_t>>;

Pairs pairs_of(const std::vector<std::string>& texts, const DuplicateRule& rule = {}) {
  std::vector<std::string_view> views(texts.begin(), texts.end());
  Pairs pairs;
  find_duplicates(
      views, rule, [](std::int64_t, std::int64_t) { return true; },
      [&](const DuplicatePair& pair) {
        EXPECT_LT(pair.a, pair.b);
        EXPECT_TRUE(pairs.insert({pair.a, pair.b}).second) << "given twice";
        EXPECT_EQ(pair.jaccard, jaccard_of(texts[static_cast<std::size_t>(pair.a)],
                                           texts[static_cast<std::size_t>(pair.b)], rule.shingle_words));
      });
  return pairs;
}

std::string words(RandomStream& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "w" + std::to_string(random.below(500)) + " ";
  return text;
}

TEST(Duplicates, ExactCopiesDifferInCaseSpacesAndPunctuationAtMost) {
  EXPECT_EQ(pairs_of({"Chest pain, since Monday.", "other words are here now", "chest  PAIN since\nmonday",
                      "chest pain since tuesday", "chest pain since monday!"}),
            (Pairs{{0, 2}, {0, 4}}));
  EXPECT_EQ(pairs_of({"...", "...", "---", ""}), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs_of({}), Pairs{});
}

TEST(Duplicates, JaccardIndexIsThatOfTheShingles) {
  // 6 words have 2 shingles of 5; one of the 2 + 2 is shared: 1 / 3.
  EXPECT_DOUBLE_EQ(jaccard_of("a b c d e f", "a b c d e g", 5), 1.0 / 3);
  EXPECT_DOUBLE_EQ(jaccard_of("a b c", "a b c", 5), 1.0);
  EXPECT_DOUBLE_EQ(jaccard_of("a b c", "a b d", 5), 0.0);
  EXPECT_DOUBLE_EQ(jaccard_of("患者は安静", "患者は安静", 2), 1.0);
  EXPECT_DOUBLE_EQ(jaccard_of("患者は安静", "患者は安全", 2), 3.0 / 5) << "each CJK character is a word";
}

TEST(Duplicates, SearchFindsWhatComparingAllPairsFinds) {
  RandomStream random(RandomKey{7});
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) {
    std::string base = words(random, 80);
    texts.push_back(base);
    for (int copy = 0; copy < 4; ++copy) {  // a few words changed: Jaccard indexes on both sides of the threshold
      std::string changed = base;
      for (int change = 0; change <= copy; ++change)
        changed[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(changed.size())))] = 'x';
      texts.push_back(changed);
    }
  }
  Pairs all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = i + 1; j < texts.size(); ++j)
      if (jaccard_of(texts[i], texts[j], 5) >= 0.8)
        all.insert({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
  EXPECT_GT(all.size(), 15u);
  EXPECT_LT(all.size(), 200u);
  EXPECT_EQ(pairs_of(texts), all);
  int before = num_threads();
  set_num_threads(3);
  EXPECT_EQ(pairs_of(texts), all);
  set_num_threads(before);
}

TEST(Duplicates, PairsThatAreNotWantedAreLeftOut) {
  std::vector<std::string_view> texts = {"a b c d e", "a b c d e", "a b c d e"};
  Pairs pairs;
  find_duplicates(
      texts, {}, [](std::int64_t, std::int64_t b) { return b == 2; },
      [&](const DuplicatePair& pair) {
        pairs.insert({pair.a, pair.b});
      });
  EXPECT_EQ(pairs, (Pairs{{0, 2}}));
}

TEST(Duplicates, TheSearchStopsWhenItIsAskedTo) {
  RandomStream random(RandomKey{7});
  std::vector<std::string> texts(300, words(random, 40));  // copies but for a word: a bucket of all pairs
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += " w" + std::to_string(i);
  std::vector<std::string_view> views(texts.begin(), texts.end());
  std::atomic<bool> cancel = false;
  std::int64_t found = 0;
  auto note = [&](const DuplicatePair&) { cancel = ++found == 10; };
  auto all = [](std::int64_t, std::int64_t) { return true; };
  EXPECT_THROW(find_duplicates(views, {}, all, note, {.progress = {}, .cancel = &cancel}), Cancelled);
  EXPECT_LT(found, 1000);
}

TEST(Duplicates, RulesOutOfRangeAreRefused) {
  EXPECT_THROW(pairs_of({"a"}, {.threshold = 0}), Error);
  EXPECT_THROW(pairs_of({"a"}, {.threshold = 1.1}), Error);
  EXPECT_THROW(pairs_of({"a"}, {.shingle_words = 0}), Error);
}

}  // namespace
}  // namespace attune
