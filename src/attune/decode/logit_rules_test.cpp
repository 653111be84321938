// Rules by hand; against transformers' processors: golden_test.cpp.
#include "attune/decode/logit_rules.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "attune/base/error.h"
#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"

namespace attune {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

std::vector<float> after(const LogitRules& rules, const Ids& given, const Ids& written, std::vector<float> logits) {
  apply_rules(rules, {given, written}, Ids{4}, logits);
  return logits;
}

TEST(LogitRules, RepetitionCountsThePromptAndPresenceAndFrequencyDoNot) {
  const std::vector<float> logits = {2, -2, 3, 1, 0};
  EXPECT_EQ(after({.repetition_penalty = 2}, {0, 1, 1}, {2}, logits), (std::vector<float>{1, -4, 1.5f, 1, 0}));
  EXPECT_EQ(after({.presence_penalty = 0.5}, {0, 1}, {2, 2, 3}, logits), (std::vector<float>{2, -2, 2.5f, 0.5f, 0}));
  EXPECT_EQ(after({.frequency_penalty = 0.5}, {0, 1}, {2, 2, 3}, logits), (std::vector<float>{2, -2, 2, 0.5f, 0}));
}

TEST(LogitRules, WhatIsForbiddenIsImpossible) {
  const std::vector<float> logits(5, 1);
  EXPECT_EQ(after({.no_repeat_ngram = 2}, {0, 1, 0}, {}, logits), (std::vector<float>{1, never, 1, 1, 1}));
  EXPECT_EQ(after({.no_repeat_ngram = 3}, {0, 1, 2}, {0, 1}, logits), (std::vector<float>{1, 1, never, 1, 1}));
  EXPECT_EQ(after({.no_repeat_ngram = 1}, {0}, {3}, logits), (std::vector<float>{never, 1, 1, never, 1}));
  EXPECT_EQ(after({.forbidden_sequences = {{0, 1, 2}, {1, 3}, {2, 0}}}, {0}, {1}, logits),
            (std::vector<float>{1, 1, never, never, 1}));
  EXPECT_EQ(after({.min_tokens = 2}, {0, 0}, {1}, logits), (std::vector<float>{1, 1, 1, 1, never}));
  EXPECT_EQ(after({.min_tokens = 2}, {0, 0}, {1, 1}, logits), logits);
  EXPECT_EQ(after({.min_length = 3}, {0, 0}, {}, logits), (std::vector<float>{1, 1, 1, 1, never}));
  EXPECT_EQ(after({.forbidden_first_ids = {2}}, {0}, {}, logits), (std::vector<float>{1, 1, never, 1, 1}));
  EXPECT_EQ(after({.forbidden_first_ids = {2}}, {0}, {1}, logits), logits);
  EXPECT_EQ(after({.forbidden_ids = {9, -1}}, {0}, {1}, logits), logits);  // the vocabulary does not have them
  EXPECT_FALSE(LogitRules{}.any());
}

TEST(LogitRules, NameWhatIsOutOfRange) {
  EXPECT_THROW(check_rules({.repetition_penalty = 0}), Error);
  EXPECT_THROW(check_rules({.repetition_penalty = std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(check_rules({.presence_penalty = std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(check_rules({.no_repeat_ngram = -1}), Error);
  EXPECT_THROW(check_rules({.forbidden_sequences = {{1}}}), Error);
  EXPECT_THROW(check_rules({.min_tokens = -2}), Error);
}

TEST(LogitRules, ATextDoesNotDependOnItsCompanyUnderAnyOfThem) {
  auto model = open(Path(ATTUNE_GOLDEN_DIR) / "models" / "llama_untied_llama3_rope");
  const std::vector<Ids> prompts = {{7, 17, 23, 14, 5}, {9}, {12, 3, 4, 8, 30, 31, 6, 2}, {5, 5, 5}};
  GenerateOptions options{
      .max_tokens = 20,
      .stop_ids = {1},
      .rules = {.repetition_penalty = 1.2, .presence_penalty = 0.3, .frequency_penalty = 0.1, .no_repeat_ngram = 3},
      .sampling = {.temperature = 1.4, .min_p = 0.01, .typical_p = 0.95},
      .seed = 8};
  BeamOptions search{.beams = 4,
                     .max_tokens = 12,
                     .stop_ids = {1},
                     .rules = {.repetition_penalty = 1.2, .no_repeat_ngram = 2},
                     .groups = 2,
                     .diversity_penalty = 0.8};
  options.sequences_together = 4;
  const std::vector<Generated> together = generate(*model, prompts, options, {});
  const auto found = beam_search_all(*model, prompts, search, {});
  options.sequences_together = 1;
  search.sequences_together = 1;
  const std::vector<Generated> alone = generate(*model, prompts, options, {});
  const auto found_alone = beam_search_all(*model, prompts, search, {});
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i].ids, alone[i].ids);
    Ids text = prompts[i];
    text.insert(text.end(), together[i].ids.begin(), together[i].ids.end());
    std::set<Ids> seen;
    for (std::size_t at = 0; at + 3 <= text.size(); ++at) {
      const bool of_the_prompt = at + 3 <= prompts[i].size();
      EXPECT_TRUE(seen.insert(Ids(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(at + 3)))
                      .second ||
                  of_the_prompt);
    }
    ASSERT_EQ(found[i].size(), found_alone[i].size());
    for (std::size_t r = 0; r < found[i].size(); ++r) {
      EXPECT_EQ(found[i][r].ids, found_alone[i][r].ids);
      EXPECT_EQ(found[i][r].score, found_alone[i][r].score);
    }
  }
}

TEST(BeamSearch, GroupsThatDoNotFitAreNamed) {
  EXPECT_THROW(check_beams({.beams = 4, .groups = 3}), Error);
  EXPECT_THROW(check_beams({.beams = 4, .groups = 5}), Error);
  EXPECT_THROW(check_beams({.beams = 4, .groups = 0}), Error);
  EXPECT_THROW(check_beams({.beams = 4, .diversity_penalty = 1}), Error);
  EXPECT_THROW(check_beams({.beams = 4, .groups = 2, .diversity_penalty = -1}), Error);
  EXPECT_NO_THROW(check_beams({.beams = 4, .groups = 2, .diversity_penalty = 1}));
}

}  // namespace
}  // namespace attune
