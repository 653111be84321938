// tests/golden/generation (made by tools/golden/generation.py and decoding.py with Hugging Face transformers) against
// this program.
#include <gtest/gtest.h>

#include <numeric>

#include "attune/base/json_values.h"

#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"
#include "attune/models/architecture.h"

namespace attune {

std::unique_ptr<Model> open(const Path& directory) {
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory / "model.safetensors")),
      .initial = {}};
  return build_model(read_json(directory / "config.json"), (directory / "config.json").string(), std::move(source));
}

namespace {

const Path goldens = ATTUNE_GOLDEN_DIR;

void expect_generated(const Model& model, const Json& golden) {
  GenerateOptions options{.max_tokens = golden["max_tokens"], .stop_ids = golden["stop_ids"], .sampling = {}};
  std::vector<Generated> written = generate(model, golden["inputs"].get<std::vector<Ids>>(), options, {});
  for (std::size_t i = 0; i < written.size(); ++i)
    EXPECT_EQ(written[i].ids, golden["expected"][i]["ids"].get<Ids>()) << "input " << i;
}

void expect_searched(const Model& model, const Json& golden) {
  BeamOptions options{.beams = golden["beams"],
                      .length_penalty = golden["length_penalty"],
                      .max_tokens = golden["max_tokens"],
                      .stop_ids = golden["stop_ids"],
                      .rules = {.forbidden_ids = golden["forbidden_ids"]}};
  if (!golden["forced_stop_id"].is_null()) options.forced_stop_id = golden["forced_stop_id"].get<std::int64_t>();
  std::vector<BeamResult> found = beam_search(model, golden["inputs"].get<std::vector<Ids>>(), options, {});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Json& expected = golden["expected"][i];
    EXPECT_EQ(found[i].ids, expected["ids"].get<Ids>()) << "input " << i;
    if (expected.contains("score")) {
      EXPECT_NEAR(found[i].score, expected["score"].get<double>(), 1e-5) << "input " << i;
    }
  }
}

/// expected: of each input the results, best first; what a golden leaves out is not compared.
void expect_found(const std::vector<std::vector<BeamResult>>& found, const Json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << "input " << i;
    for (std::size_t r = 0; r < found[i].size(); ++r) {
      SCOPED_TRACE(fmt::format("input {}, result {}", i, r));
      const Json& one = expected[i][r];
      EXPECT_EQ(found[i][r].ids, one["ids"].get<Ids>());
      EXPECT_EQ(found[i][r].stopped, one.value("stopped", found[i][r].stopped));
      EXPECT_NEAR(found[i][r].score, one.value("score", found[i][r].score), 1e-4);
    }
  }
}

TEST(Golden, DecodingWritesWhatTransformersWrites) {
  Json cases = read_json(goldens / "generation" / "cases.json");
  EXPECT_GT(cases.size(), 10u);
  for (const Json& golden : cases) {
    SCOPED_TRACE(golden["model"].get<std::string>() + ", beams " + golden["beams"].dump());
    auto model = open(goldens / "models" / golden["model"].get<std::string>());
    if (golden["beams"] == 1 && model->facts().head == HeadKind::causal_lm) expect_generated(*model, golden);
    expect_searched(*model, golden);
  }
}

LogitRules rules_of(const Json& settings, const Ids& stop_ids) {
  LogitRules rules{.repetition_penalty = settings.value("repetition_penalty", 1.0),
                   .presence_penalty = settings.value("presence_penalty", 0.0),
                   .frequency_penalty = settings.value("frequency_penalty", 0.0),
                   .no_repeat_ngram = settings.value("no_repeat_ngram_size", 0),
                   .forbidden_ids = settings.value("suppress_tokens", Ids{}),
                   .forbidden_sequences = {},
                   .min_length = settings.value("min_length", 0),
                   .min_tokens = settings.value("min_new_tokens", 0),
                   .forbidden_first_ids = settings.value("begin_suppress_tokens", Ids{})};
  for (const Ids& word : settings.value("bad_words_ids", std::vector<Ids>{})) {
    if (word.size() > 1) rules.forbidden_sequences.push_back(word);
    if (word.size() == 1 && std::ranges::find(stop_ids, word[0]) == stop_ids.end())
      rules.forbidden_ids.push_back(word[0]);
  }
  return rules;
}

TEST(Golden, LogitsBecomeTheDistributionsThatTransformersProcessorsMake) {
  const Json cases = read_json(goldens / "generation" / "processors.json");
  EXPECT_GT(cases.size(), 80u);
  for (const Json& golden : cases) {
    const Json& s = golden["settings"];
    SCOPED_TRACE(s.dump() + " after " + golden["written"].dump());
    auto logits = golden["logits"].get<std::vector<float>>();
    const Ids given = golden["given"], written = golden["written"], stops = golden["stop_ids"];
    apply_rules(rules_of(s, stops), {given, written}, stops, logits);
    const Sampling sampling{.temperature = s.value("temperature", 1.0),
                            .top_k = s.value("top_k", 0),
                            .top_p = s.value("top_p", 1.0),
                            .min_p = s.value("min_p", 0.0),
                            .typical_p = s.value("typical_p", 1.0)};
    const std::vector<TokenProbability> drawn = drawn_from(logits, sampling);
    double sum = 0;
    for (const TokenProbability& one : drawn) sum += one.probability;
    std::vector<double> ours(logits.size());
    for (const TokenProbability& one : drawn) ours[static_cast<std::size_t>(one.token)] = one.probability / sum;
    for (std::size_t t = 0; t < ours.size(); ++t)
      EXPECT_NEAR(ours[t], golden["probabilities"][t].get<double>(), 1e-6) << "token " << t;
  }
}

EarlyStopping early_stopping(const Json& settings) {
  const Json value = settings.value("early_stopping", Json(false));
  if (value == "never") return EarlyStopping::never;
  return value == true ? EarlyStopping::at_once : EarlyStopping::heuristic;
}

TEST(Golden, ASearchEndsItsBeamsWhereAStoppingCriterionDoes) {
  const Json cases = read_json(goldens / "generation" / "stopping.json");
  EXPECT_GE(cases.size(), 12u);
  for (const Json& golden : cases) {
    SCOPED_TRACE(fmt::format("{}, {} beams, sums divided by {}", golden["model"].get<std::string>(),
                             golden["beams"].get<int>(), golden["divisor"].get<int>()));
    auto model = open(goldens / "models" / golden["model"].get<std::string>());
    const std::int64_t divisor = golden["divisor"];
    const BeamOptions options{.beams = golden["beams"],
                              .length_penalty = golden["length_penalty"],
                              .max_tokens = golden["max_tokens"],
                              .stop_ids = golden["stop_ids"],
                              .ends =
                                  [&](std::size_t, std::span<const std::int64_t> written) {
                                    return std::accumulate(written.begin(), written.end(), std::int64_t{0}) % divisor ==
                                           0;
                                  },
                              .early_stopping = early_stopping(golden)};
    const auto found = beam_search_all(*model, golden["inputs"].get<std::vector<Ids>>(), options, {});
    expect_found(found, golden["expected"]);
  }
}

TEST(Golden, SearchesUnderRulesAndInGroupsFindWhatTheReferenceFinds) {
  const Json cases = read_json(goldens / "generation" / "searches.json");
  EXPECT_GT(cases.size(), 20u);
  for (const Json& golden : cases) {
    const Json& s = golden["settings"];
    SCOPED_TRACE(fmt::format("{}, {} beams in {} groups, {}", golden["model"].get<std::string>(),
                             golden["beams"].get<int>(), golden["groups"].get<int>(), s.dump()));
    auto model = open(goldens / "models" / golden["model"].get<std::string>());
    const Ids stops = golden["stop_ids"];
    const BeamOptions options{.beams = golden["beams"],
                              .length_penalty = golden["length_penalty"],
                              .max_tokens = golden["max_tokens"],
                              .stop_ids = stops,
                              .rules = rules_of(s, stops),
                              .renormalise = s.value("renormalize_logits", false),
                              .early_stopping = early_stopping(s),
                              .groups = golden["groups"],
                              .diversity_penalty = golden["diversity_penalty"]};
    const auto found = beam_search_all(*model, golden["inputs"].get<std::vector<Ids>>(), options, {});
    expect_found(found, golden["expected"]);
    if (golden["beams"] != 1 || model->facts().head != HeadKind::causal_lm) continue;
    const GenerateOptions greedy{.max_tokens = golden["max_tokens"], .stop_ids = stops, .rules = rules_of(s, stops)};
    const auto written = generate(*model, golden["inputs"].get<std::vector<Ids>>(), greedy, {});
    for (std::size_t i = 0; i < written.size(); ++i)
      EXPECT_EQ(written[i].ids, golden["expected"][i][0]["ids"].get<Ids>()) << "input " << i;
  }
}

}  // namespace
}  // namespace attune
