#include "attune/explain/probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/models/architecture.h"
#include "attune/models/objective.h"

namespace attune::explain {
namespace {

constexpr std::int64_t vocabulary = 100, mask = 99;

std::unique_ptr<Model> model(const std::string& head, const Json& more = Json::object()) {
  Json config = {{"model_type", "attune"}, {"architectures", {head}},  {"vocab_size", vocabulary}, {"hidden_size", 16},
                 {"num_hidden_layers", 1}, {"num_attention_heads", 2}, {"initializer_range", 0.3}};
  config.update(more);
  return build_model(config, "a test's config",
                     {.checkpoint = nullptr, .initial = RandomKey{.seed = 3}.at("weights"), .trainable = true});
}

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(i * 7 % 90);
  return ids;
}

/// Text of the tokens 0 to 9; words 20 to 79; "Remember:" is 90, "." is 91.
ProbeText made_up_text() {
  ProbeText text;
  for (std::int64_t i = 0; i < 40; ++i) text.text.push_back(i % 10);
  for (std::int64_t i = 20; i < 80; ++i) text.words.push_back(i);
  text.before_pair = {90};
  text.after_pair = {91};
  return text;
}

double loss_in_training(const Model& model, const std::vector<std::int64_t>& ids) {
  const std::vector<Example> example = {{.chunks = {ids}, .labels = ids}};
  return loss_of(model, collate(model, example, std::vector<std::int64_t>{0})).item();
}

TEST(Ask, MeanLossIsTheOneOfTraining) {
  const auto causal = model("AttuneForCausalLM");
  Asked asked{counting(12), {}};
  for (std::int64_t place = 1; place < 12; ++place) asked.places.push_back(place);
  double sum = 0;
  const auto answers = ask(*causal, {asked}, {});
  for (const TokenAnswer& answer : answers[0]) sum += answer.loss;
  EXPECT_NEAR(sum / 11, loss_in_training(*causal, asked.ids), 1e-5);
}

TEST(Ask, ACacheIsReadAsDecodingReadsIt) {
  const auto causal = model("AttuneForCausalLM");
  Asked asked{counting(40), {}};
  for (std::int64_t place = 1; place < 40; ++place) asked.places.push_back(place);
  auto losses = [&](const Asking& asking) {
    std::vector<double> all;
    for (const auto& answers : ask(*causal, {asked, asked}, asking))
      for (const TokenAnswer& answer : answers) all.push_back(answer.loss);
    return all;
  };
  const std::vector<double> exact = losses({});
  EXPECT_EQ(losses({.cache = CacheFormat::f32}), exact);
  for (CacheFormat format : {CacheFormat::f16, CacheFormat::int8}) {
    const std::vector<double> near = losses({.cache = format});
    EXPECT_NE(near, exact);
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(near[i], exact[i], 0.02);
  }
  EXPECT_THROW(ask(*model("AttuneForMaskedLM"), {asked}, {.mask_id = mask, .cache = CacheFormat::f32}), Error);
}

TEST(Ask, AMaskedModelDoesNotSeeWhatItIsAskedFor) {
  const auto masked = model("AttuneForMaskedLM");
  Asked one{counting(12), {4}}, other = one;
  other.ids[4] = 55;
  // Over all tokens that could stand there the probabilities add up to 1: only if they do not depend on the one that
  // does.
  double sum = 0;
  for (std::int64_t id = 0; id < vocabulary; ++id) {
    other.ids[4] = id;
    sum += std::exp(-ask(*masked, {other}, {mask})[0][0].loss);
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_THROW(ask(*masked, {one}, {}), Error);
}

TEST(Ask, TheSameBitsWhateverIsAskedBeside) {
  const auto causal = model("AttuneForCausalLM");
  const Asked one{counting(9), {3, 8}}, other{counting(30), {1, 2, 29}};
  const auto together = ask(*causal, {other, one}, {});
  const auto alone = ask(*causal, {one}, {});
  EXPECT_EQ(together[1][0].loss, alone[0][0].loss);
  EXPECT_EQ(together[1][1].loss, alone[0][1].loss);
}

TEST(Ask, RefusesAPlaceThatCannotBePredicted) {
  const auto causal = model("AttuneForCausalLM");
  EXPECT_THROW(ask(*causal, {{counting(5), {0}}}, {}), Error);
  EXPECT_THROW(ask(*causal, {{counting(5), {5}}}, {}), Error);
}

TEST(NeedleDocument, TheValueAskedForWasSaidOnceBesideItsKey) {
  for (double depth : {0.0, 0.3, 1.0}) {
    RandomStream random(RandomKey{.seed = 5});
    const Asked document = needle_document(made_up_text(), {.length = 60, .depth = depth, .pairs = 3}, random);
    EXPECT_EQ(document.ids.size(), 60u);
    ASSERT_EQ(document.places.size(), 1u);
    const auto at = static_cast<std::size_t>(document.places[0]);
    EXPECT_EQ(at, 58u);  // before the last "."
    const std::int64_t key = document.ids[at - 1], value = document.ids[at];
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i + 1 < at - 1; ++i)
      if (document.ids[i] == key) places.push_back(i);
    ASSERT_EQ(places.size(), 1u);
    EXPECT_EQ(document.ids[places[0] + 1], value);
    EXPECT_EQ(document.ids[places[0] - 1], 90);
  }
}

TEST(NeedleDocument, DepthSaysWhereTheNeedleStands) {
  auto place_of = [](double depth) {
    RandomStream random(RandomKey{.seed = 5});
    const Asked document = needle_document(made_up_text(), {.length = 100, .depth = depth, .pairs = 1}, random);
    const auto at = static_cast<std::size_t>(document.places[0]);
    return std::ranges::find(document.ids, document.ids[at]) - document.ids.begin();
  };
  EXPECT_EQ(place_of(0), 2);
  EXPECT_EQ(place_of(0.5), 48);  // behind half of the 92 tokens of text
  EXPECT_EQ(place_of(1), 94);
}

TEST(CopyDocument, TheSpanAtTheEndStoodBefore) {
  RandomStream random(RandomKey{.seed = 6});
  const Asked document = copy_document(made_up_text(), {.length = 50, .depth = 0.5, .span = 8}, random);
  EXPECT_EQ(document.ids.size(), 50u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(document.ids[42 + i], document.ids[17 + i]);
    EXPECT_GE(document.ids[17 + i], 20);  // words alone: text can not give them away
  }
  EXPECT_EQ(document.places.front(), 43);
  EXPECT_EQ(document.places.back(), 49);
}

TEST(RepeatedWords, EachPlaceCanBeKnownFromTheTimeBefore) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    RandomStream random(RandomKey{.seed = seed});
    const Asked document = repeated_words(made_up_text(), 40, 9, random);
    EXPECT_EQ(document.ids.size(), 40u);
    const auto span = static_cast<std::size_t>(document.places.front());
    EXPECT_GE(span, 3u);
    EXPECT_LE(span, 9u);
    EXPECT_EQ(document.places.size(), 40 - span);
    for (std::size_t i = span; i < 40; ++i) EXPECT_EQ(document.ids[i], document.ids[i - span]);
  }
}

TEST(RepeatedPairs, EachValueAskedForWasSaidBehindItsKey) {
  RandomStream random(RandomKey{.seed = 2});
  const Asked document = repeated_pairs(made_up_text(), 42, 3, random);
  EXPECT_LE(document.ids.size(), 42u);
  ASSERT_FALSE(document.places.empty());
  for (std::int64_t place : document.places) {
    const auto at = static_cast<std::size_t>(place);
    const auto key = std::ranges::find(document.ids, document.ids[at - 1]);
    EXPECT_LT(key - document.ids.begin(), place - 1);
    EXPECT_EQ(key[1], document.ids[at]);
  }
}

TEST(ProbeDocuments, SizesThatDoNotFitAreRefused) {
  RandomStream random(RandomKey{});
  EXPECT_THROW(needle_document(made_up_text(), {.length = 10, .pairs = 4}, random), Error);
  EXPECT_THROW(needle_document(made_up_text(), {.length = 100, .depth = 1.5}, random), Error);
  EXPECT_THROW(repeated_words(made_up_text(), 20, 2, random), Error);
  EXPECT_THROW(repeated_pairs(made_up_text(), 7, 2, random), Error);
  EXPECT_THROW(copy_document(made_up_text(), {.length = 10, .span = 8}, random), Error);
}

TEST(ProbePerplexity, AtOneLengthIsTheLossOfTraining) {
  const auto causal = model("AttuneForCausalLM");
  const auto ids = counting(32);
  const auto results = probe_perplexity({*causal}, ids, {16});
  const double first = loss_in_training(*causal, {ids.begin(), ids.begin() + 16});
  const double second = loss_in_training(*causal, {ids.begin() + 16, ids.end()});
  EXPECT_EQ(results[0].tokens, 30);
  EXPECT_NEAR(results[0].loss.value, (first + second) / 2, 1e-5);
  EXPECT_NEAR(results[0].perplexity(), std::exp((first + second) / 2), 1e-3);
}

TEST(ProbePerplexity, EveryTokenIsInOnePositionRange) {
  const auto causal = model("AttuneForCausalLM");
  const auto results = probe_perplexity({*causal}, counting(600), {300});
  std::int64_t tokens = 0, end = 0;
  for (const auto& part : results[0].by_position) {
    EXPECT_EQ(part.begin, end);
    tokens += part.tokens, end = part.end;
  }
  EXPECT_EQ(end, 300);
  EXPECT_EQ(tokens, results[0].tokens);
}

TEST(ProbePerplexity, AWindowLosesNothingBeyondTheTrainedLengthThatItNeverSaw) {
  // One layer that sees two tokens: how much text stands before them can not matter, so far from a sequence's beginning
  // the losses at both lengths are those of the same tokens.
  const auto near = model("AttuneForCausalLM", {{"attention", {{"family", "window"}, {"one_sided", 1}}},
                                                {"positions", {{"method", "none"}}}});
  const auto results = probe_perplexity({*near}, counting(512), {64, 256});
  EXPECT_NEAR(results[0].loss.value, results[1].loss.value, 0.05);
}

TEST(ProbePerplexity, ALengthThatTheModelDoesNotTakeIsSaidNotMeasured) {
  const auto bounded = model("AttuneForCausalLM", {{"max_position_embeddings", 20}});
  const auto results = probe_perplexity({*bounded}, counting(80), {20, 40});
  EXPECT_EQ(results[0].skipped, "");
  EXPECT_NE(results[1].skipped.find("20 tokens"), std::string::npos);
  EXPECT_THROW(probe_perplexity({*bounded}, counting(80), {100}), Error);
}

TEST(ProbePerplexity, AMaskedModelIsAskedForTheSameTokensAtEachLength) {
  const auto masked = model("AttuneForMaskedLM");
  const auto results = probe_perplexity({*masked, {mask}}, counting(256), {32, 128});
  EXPECT_EQ(results[0].tokens, results[1].tokens);
  EXPECT_NEAR(static_cast<double>(results[0].tokens), 0.15 * 256, 20);
}

TEST(Probes, ACellForEachLengthAndDepthWithTheSameAnswersTwice) {
  const auto causal = model("AttuneForCausalLM");
  const ProbeGrid grid{.lengths = {40, 60}, .depths = {0, 1}, .documents = 3, .seed = 1};
  const auto cells = probe_needle({*causal}, made_up_text(), grid, 2),
             again = probe_needle({*causal}, made_up_text(), grid, 2);
  ASSERT_EQ(cells.size(), 4u);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].loss, again[i].loss);
    EXPECT_GE(cells[i].accuracy.value, 0);
    EXPECT_LE(cells[i].accuracy.value, cells[i].accuracy.high);
    EXPECT_EQ(cells[i].documents, 3);
  }
  EXPECT_EQ(cells[1].length, 40);
  EXPECT_EQ(cells[1].depth, 1);
}

TEST(ProbeCopy, AModelThatLearnedNothingIsAtChance) {
  const auto causal = model("AttuneForCausalLM");
  const auto cells = probe_copy({*causal}, made_up_text(), {.lengths = {60}, .depths = {0.5}, .documents = 20}, 12);
  EXPECT_LT(cells[0].accuracy.value, 0.2);
  EXPECT_GT(cells[0].loss, 2);
}

TEST(Probes, StopInTheMidstOfOneLongSequence) {
  const auto causal = model("AttuneForCausalLM");
  Asked asked{counting(4096), {4000}};
  std::atomic<bool> cancel{false};
  // The flag is set after the last look before the forward: within it, it is seen.
  const attune::Run run{.progress = [&](const Progress&) { cancel = true; }, .cancel = &cancel};
  EXPECT_THROW(ask(*causal, {asked}, {}, run), Cancelled);
}

TEST(Probes, SayHowFarTheyAreOfAllTheirParts) {
  const auto causal = model("AttuneForCausalLM");
  std::vector<std::int64_t> done;
  const attune::Run run{.progress =
                            [&](const Progress& now) {
                              EXPECT_EQ(now.total, 12);
                              done.push_back(now.done);
                            },
                        .cancel = nullptr};
  probe_copy({*causal}, made_up_text(), {.lengths = {32, 40}, .depths = {0, 1}, .documents = 3}, 4, run);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.back(), 12);
}

TEST(Probes, LengthsThatNoMachineHoldsAreRefused) {
  const auto causal = model("AttuneForCausalLM");
  const std::int64_t length = longest_probe + 1;
  EXPECT_THROW(probe_copy({*causal}, made_up_text(), {.lengths = {length}, .depths = {0}}, 4), Error);
  EXPECT_THROW(probe_perplexity({*causal}, counting(10), {length}), Error);
  RandomStream random(RandomKey{.seed = 1});
  EXPECT_THROW(repeated_words(made_up_text(), length, 4, random), Error);
}

}  // namespace
}  // namespace attune::explain
