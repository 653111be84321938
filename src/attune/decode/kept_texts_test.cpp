// What stays in the cache from call to call changes what is read, and no bit of what is written.
#include <gtest/gtest.h>

#include <atomic>

#include "attune/base/error.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"

namespace attune {
namespace {

const Path models = Path(ATTUNE_GOLDEN_DIR) / "models";

Ids longer(Ids text, std::int64_t by, std::uint64_t seed) {
  RandomStream random({.seed = seed});
  for (std::int64_t i = 0; i < by; ++i) text.push_back(3 + random.below(30));
  return text;
}

struct Case {
  const char* model;
  CacheFormat cache;
  double temperature;
};

class KeptText : public testing::TestWithParam<Case> {
 protected:
  KeptText() : model_(open(models / GetParam().model)) {}
  GenerateOptions options(KeptTexts* kept) const {
    return {.max_tokens = 12,
            .rules = {.repetition_penalty = 1.1},
            .sampling = {.temperature = GetParam().temperature},
            .seed = 6,
            .cache = GetParam().cache,
            .kept = kept};
  }
  /// Goes on with what is kept, and expects what reading it all gives.
  Ids turn(const Ids& prompt) {
    const Ids fresh = generate(*model_, {prompt}, options(nullptr), {})[0].ids;
    EXPECT_EQ(generate(*model_, {prompt}, options(&kept_), {})[0].ids, fresh);
    return fresh;
  }

  std::unique_ptr<Model> model_;
  KeptTexts kept_;
};

TEST_P(KeptText, GoingOnGivesTheBitsOfReadingAll) {
  const Ids first = longer({}, 80, 1);
  Ids said = turn(first);
  EXPECT_EQ(kept_.tokens_shared(), 0);
  Ids second = first;
  second.insert(second.end(), said.begin(), said.end());
  const auto read = static_cast<std::int64_t>(second.size()) - 1;  // the last token was written, and not yet read
  second = longer(second, 70, 2);
  said = turn(second);
  const bool shares = model_->facts().shares_keys;  // else keys depend on how long a text may become
  EXPECT_EQ(kept_.tokens_shared(), shares ? read : 0);
  Ids third = second;
  third.insert(third.end(), said.begin(), said.end());
  turn(longer(third, 5, 3));
  EXPECT_GE(kept_.tokens_shared(), shares ? read + 70 : 0);
  // Another text from the 70th token on, and one without anything in common.
  turn(longer(Ids(first.begin(), first.begin() + 70), 30, 4));
  EXPECT_GE(kept_.tokens_shared(), shares ? 70 : 0);
  turn(longer({}, 80, 5));
  EXPECT_EQ(kept_.tokens_shared(), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, KeptText,
                         testing::Values(Case{"llama_tied_biased", CacheFormat::f32, 0},
                                         Case{"llama_tied_biased", CacheFormat::f32, 1},
                                         Case{"llama_tied_biased", CacheFormat::f16, 1},
                                         Case{"llama_tied_biased", CacheFormat::int8, 1},
                                         Case{"llama_untied_llama3_rope", CacheFormat::int8, 0.7},
                                         Case{"olmo2", CacheFormat::f16, 0.7}, Case{"bloom", CacheFormat::f32, 1}));

// Windows forget what they have passed: nothing is shared then, and nothing is lost.
TEST(KeptTexts, WindowsAndReadingAgain) {
  const auto model = open(models / "mistral");
  KeptTexts kept;
  Ids text = longer({}, 80, 1);
  for (int turn = 0; turn < 3; ++turn) {
    GenerateOptions options{.max_tokens = 9};
    const Ids fresh = generate(*model, {text}, options, {})[0].ids;
    options.kept = &kept;
    EXPECT_EQ(generate(*model, {text}, options, {})[0].ids, fresh);
    text.insert(text.end(), fresh.begin(), fresh.end());
    text = longer(text, 20, 8);
  }
}

TEST(KeptTexts, AfterAFaultItBeginsAnew) {
  const auto model = open(models / "llama_tied_biased");
  KeptTexts kept;
  std::atomic<bool> cancel = false;
  const Ids text = longer({}, 100, 1);
  const GenerateOptions options{.max_tokens = 9, .kept = &kept};
  generate(*model, {text}, options, {});
  std::int64_t told = 0;
  EXPECT_THROW(generate(*model, {text}, options, {.progress = {}, .cancel = &cancel},
                        [&](std::int64_t, std::int64_t) { return cancel = ++told == 4, true; }),
               Cancelled);
  const GenerateOptions alone{.max_tokens = 9};
  EXPECT_EQ(generate(*model, {text}, options, {})[0].ids, generate(*model, {text}, alone, {})[0].ids);
  EXPECT_EQ(kept.tokens_shared(), 0);
  generate(*model, {text}, options, {});
  EXPECT_EQ(kept.tokens_shared(), 99);
}

TEST(KeptTexts, AreOfOneModelAndOneFormat) {
  const auto model = open(models / "llama_tied_biased"), other = open(models / "llama_tied_biased");
  KeptTexts kept;
  GenerateOptions options{.max_tokens = 2, .kept = &kept};
  generate(*model, {{5, 6}}, options, {});
  EXPECT_THROW(generate(*other, {{5, 6}}, options, {}), Error);
  options.cache = CacheFormat::f16;
  EXPECT_THROW(generate(*model, {{5, 6}}, options, {}), Error);
}

}  // namespace
}  // namespace attune
