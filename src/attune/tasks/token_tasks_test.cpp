// Every directory of tests/golden/token_tasks (made by tools/golden/token_tasks.py) against this program.
#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/tasks/answer.h"
#include "attune/tasks/embed.h"
#include "attune/tasks/tag.h"

namespace attune {
namespace {

const Path goldens = Path(ATTUNE_GOLDEN_DIR) / "token_tasks";

class Tagging : public testing::TestWithParam<std::string> {};

TEST_P(Tagging, EntitiesAreThoseOfTransformersPipelineForEveryGrouping) {
  const Bundle bundle = load_bundle(goldens / GetParam());
  const Json expected = read_json(goldens / GetParam() / "expected.json");
  const auto texts = expected["texts"].get<std::vector<std::string>>();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::size_t compared = 0;
  for (const auto& [grouping, lists] : expected["entities"].items()) {
    const std::vector<TaggedText> ours = tag(bundle, views, {.grouping = parse_entity_grouping(grouping)}, {});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(ours[i].entities.size(), lists[i].size()) << grouping << ": " << texts[i];
      for (std::size_t e = 0; e < lists[i].size(); ++e, ++compared) {
        const Entity& entity = ours[i].entities[e];
        EXPECT_EQ(entity.label, lists[i][e][0]) << grouping << ": " << texts[i];
        EXPECT_EQ(entity.begin, lists[i][e][1]) << grouping << ": " << texts[i];
        EXPECT_EQ(entity.end, lists[i][e][2]) << grouping << ": " << texts[i];
        EXPECT_NEAR(entity.score, lists[i][e][3].get<double>(), 1e-4) << grouping << ": " << texts[i];
      }
    }
  }
  EXPECT_GT(compared, 40u);
}

INSTANTIATE_TEST_SUITE_P(Models, Tagging, testing::Values("entities_word_piece", "entities_byte_bpe"));

TEST(Tag, ALongTextIsRefusedOrReadInPiecesWithEveryTokenTaggedOnce) {
  const Bundle bundle = load_bundle(goldens / "entities_word_piece");
  std::string text = "ada";
  for (int i = 0; i < 120; ++i) text += i % 3 ? " lovelace" : " in london";
  const std::string_view view = text;
  EXPECT_THROW(tag(bundle, std::span(&view, 1), {}, {}), Error);
  for (LongPolicy::Kind kind : {LongPolicy::Kind::chunk, LongPolicy::Kind::stride}) {
    const TaggedText found = tag(bundle, std::span(&view, 1), {.long_policy = kind}, {}).front();
    EXPECT_GE(found.chunks, 4);
    std::int64_t last = 0;
    for (const Entity& entity : found.entities) {
      EXPECT_GE(entity.begin, last) << "entities stand one behind the other";
      last = entity.end;
    }
    EXPECT_LE(last, static_cast<std::int64_t>(text.size()));
  }
}

class Answering : public testing::TestWithParam<std::string> {};

TEST_P(Answering, AnswersAreTheLikeliestStretchesNeverLongerThanAsked) {
  const Bundle bundle = load_bundle(goldens / GetParam());
  for (const Json& one : read_json(goldens / GetParam() / "expected.json")) {
    const auto question = one["question"].get<std::string>(), text = one["text"].get<std::string>();
    const Question asked{question, text};
    AnswerOptions options{.most_tokens = one["most"].get<std::int64_t>()};
    const Answer found = answer(bundle, std::span(&asked, 1), options, {}).front();
    EXPECT_EQ(found.begin, one["start"]) << question;
    EXPECT_EQ(found.end, one["end"]) << question;
    EXPECT_NEAR(found.score, one["score"].get<double>(), 1e-4) << question;
    EXPECT_FALSE(found.text.empty());

    options.may_have_none = true;
    const Answer perhaps = answer(bundle, std::span(&asked, 1), options, {}).front();
    const Json& expected = one["with_none"];
    EXPECT_EQ(perhaps.text.empty(), expected["none_wins"].get<bool>()) << question;
    EXPECT_NEAR(perhaps.none_score, expected["none_score"].get<double>(), 1e-4) << question;
    EXPECT_NEAR(perhaps.score, expected[perhaps.text.empty() ? "none_score" : "score"].get<double>(), 1e-4) << question;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Answering, testing::Values("answers", "answers_other_way", "answers_of_big_bird"));

TEST(Answers, ALongTextIsReadInPiecesWithTheQuestionBeforeEach) {
  const Bundle bundle = load_bundle(goldens / "answers");
  std::string text;
  for (int i = 0; i < 100; ++i) text += i == 77 ? "london " : "the notes ";
  const Question asked{"where ?", text};
  try {
    answer(bundle, std::span(&asked, 1), {}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the model takes 48"), std::string::npos) << error.what();
  }
  const Answer found = answer(bundle, std::span(&asked, 1), {.long_policy = LongPolicy::Kind::stride}, {}).front();
  EXPECT_GT(found.chunks, 4);
  EXPECT_EQ(found.text, text.substr(static_cast<std::size_t>(found.begin), found.text.size()));
  EXPECT_LE(found.end - found.begin, 30 * 6);
}

TEST(Answers, ATokenizerWithoutTheModelsSeparatorBetweenQuestionAndTextIsAnError) {
  Bundle bundle = load_bundle(goldens / "answers_of_big_bird");
  bundle.tokenizer = load_bundle(goldens / "entities_byte_bpe").tokenizer;
  const Question asked{"who ?", "ada"};
  try {
    answer(bundle, std::span(&asked, 1), {}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("questions end with token 3 (\"sep_token_id\""), std::string::npos)
        << error.what();
  }
}

/// A model with one weight that is not a number.
Bundle damaged(const std::string& name) {
  Bundle bundle = load_bundle(goldens / name, {.trainable = true});
  for (const Parameter& one : bundle.model->parameters().all())
    if (one.shape().rank() == 1) Tensor(one.value).mutable_values<float>()[0] = std::nanf("");
  return bundle;
}

TEST(TokenTasks, DamagedWeightsAreAnErrorAndNoAnswer) {
  const std::string_view text = "Ada met Bob";
  const Question asked{"who", text};
  EXPECT_THROW(tag(damaged("entities_word_piece"), std::span(&text, 1), {}, {}), Error);
  EXPECT_THROW(answer(damaged("answers"), std::span(&asked, 1), {}, {}), Error);
  EXPECT_THROW(embed({damaged("answers"), {}}, std::span(&text, 1), {}, {}), Error);
}

TEST(TokenTasks, AModelOfAnotherKindIsAnErrorThatSaysWhatIsNeeded) {
  const std::string_view text = "ada";
  const Question asked{"who ?", text};
  EXPECT_THROW(tag(load_bundle(goldens / "answers"), std::span(&text, 1), {}, {}), Error);
  EXPECT_THROW(answer(load_bundle(goldens / "entities_word_piece"), std::span(&asked, 1), {}, {}), Error);
}

}  // namespace
}  // namespace attune
