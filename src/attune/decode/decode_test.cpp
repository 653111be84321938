// Decoding against the whole prefix run anew, against itself in other company, and against exhaustive search.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/decode/alignment.h"
#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"
#include "attune/models/architecture.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/softmax.h"

namespace attune {
namespace {

const Path models = Path(ATTUNE_GOLDEN_DIR) / "models";

class CausalDecoding : public testing::TestWithParam<const char*> {};

TEST_P(CausalDecoding, TokenByTokenGivesTheBitsOfTheWholePrefix) {
  auto model = open(models / GetParam());
  for (const Ids& text : {eight_texts(*model)[3], eight_texts(*model)[6]}) {
    Decoder decoder(*model, {.page_tokens = 16});
    Decoder::Sequence sequence = decoder.begin();
    Ids prefix(text.begin(), text.begin() + 7);
    Tensor logits = decoder.step(std::vector{sequence}, {prefix});
    for (std::size_t i = 7; i < text.size(); ++i) {
      ASSERT_EQ(logits.to_vector<float>(), logits_of(*model, prefix)) << i;
      prefix.push_back(text[i]);
      logits = decoder.step(std::vector{sequence}, {{text[i]}});
    }
  }
}

TEST_P(CausalDecoding, EightTogetherGiveTheBitsOfEachAlone) {
  auto model = open(models / GetParam());
  std::vector<Ids> texts = eight_texts(*model);
  Decoder together(*model);
  std::vector<Decoder::Sequence> sequences;
  for (std::size_t i = 0; i < texts.size(); ++i) sequences.push_back(together.begin());
  int threads = num_threads();
  set_num_threads(2);
  Tensor prompts = together.step(sequences, texts);
  std::vector<Ids> next(8, Ids{9});
  next[2] = {4, 5, 6};  // a piece of a prompt among the newest tokens
  Tensor second = together.step(sequences, next);
  set_num_threads(1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Decoder alone(*model);
    std::vector<Decoder::Sequence> one = {alone.begin()};
    auto row = [&](const Tensor& logits) {
      auto at = static_cast<std::int64_t>(i);
      return logits.rows(at, at + 1).to_vector<float>();
    };
    EXPECT_EQ(row(prompts), alone.step(one, {texts[i]}).to_vector<float>()) << i;
    EXPECT_EQ(row(second), alone.step(one, {next[i]}).to_vector<float>()) << i;
  }
  set_num_threads(threads);
}

TEST(Positions, OfEveryMethodGoOnFromTheCache) {
  for (const PositionEntry& entry : position_methods()) {
    SCOPED_TRACE(entry.name);
    Json positions = {{"method", entry.name}};
    if (entry.name == "deberta") positions["kinds"] = {"c2p"};  // p2c asks for the keys, which a cache does not show
    const Json config = {{"model_type", "attune"}, {"architectures", {"AttuneForCausalLM"}},
                         {"vocab_size", 41},       {"hidden_size", 24},
                         {"num_hidden_layers", 2}, {"max_position_embeddings", 100},
                         {"positions", positions}};
    const std::unique_ptr<Model> model = build_model(config, entry.name, {.checkpoint = {}, .initial = {.seed = 5}});
    Decoder decoder(*model, {.page_tokens = 16});
    const std::vector sequence = {decoder.begin()};
    Ids prefix;
    for (std::int64_t i = 0; i < 70; ++i) {
      prefix.push_back(3 + i * i % 30);
      const std::vector<float> step = decoder.step(sequence, {{prefix.back()}}).to_vector<float>();
      ASSERT_TRUE(i % 23 != 0 || step == logits_of(*model, prefix)) << i;
    }
  }
}

// Scaling that depends on length: a request has one set of frequencies from its first token to its last, so that the
// queries of late tokens fit the keys of early ones in the cache.
TEST(RopeScalingByLength, IsThatOfTheWholeRequestAtEachStep) {
  const Path directory = Path(ATTUNE_GOLDEN_DIR) / "models/llama_linear_rope_old";
  Json config = read_json(directory / "config.json");
  config["rope_scaling"] = {{"type", "dynamic"}, {"factor", 2.0}};
  config["max_position_embeddings"] = 4;
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(directory / "model.safetensors")),
      .initial = {}};
  const std::unique_ptr<Model> model = build_model(config, "dynamic", std::move(source));
  const Ids text = {5, 9, 20, 7, 11, 30, 6, 8};
  Decoder decoder(*model);
  const std::vector sequence = {decoder.begin(8)}, unplanned = {decoder.begin()};
  Tensor logits, short_logits;
  for (std::int64_t id : text) {
    logits = decoder.step(sequence, {{id}});
    short_logits = decoder.step(unplanned, {{id}});
  }
  EXPECT_EQ(logits.to_vector<float>(), logits_of(*model, text));  // eight tokens, twice as many as the original
  EXPECT_NE(short_logits.to_vector<float>(), logits_of(*model, text));
  // The text of a prompt does not depend on what is written beside it, however long.
  const GenerateOptions options{.max_tokens = 6, .stop_ids = {}, .sampling = {}};
  const std::vector<Generated> both = generate(*model, {{5, 9}, Ids(40, 7)}, options, {});
  EXPECT_EQ(both[0].ids, generate(*model, {{5, 9}}, options, {})[0].ids);
}

TEST_P(CausalDecoding, TextsDoNotDependOnHowManyAreWrittenTogether) {
  auto model = open(models / GetParam());
  GenerateOptions options{.max_tokens = 30,
                          .longest = model->facts().longest.value_or(0),
                          .stop_ids = {5, 11},
                          .sampling = {.temperature = 1.3, .top_p = 0.95}};
  options.seed = 3;
  const std::vector<Ids> texts = eight_texts(*model);
  auto written = [&](std::int64_t together) {
    options.sequences_together = together;
    return generate(*model, texts, options, {});
  };
  std::vector<Generated> all = written(8), some = written(3), one = written(1);
  bool stopped = false, full = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].ids, some[i].ids);
    EXPECT_EQ(all[i].ids, one[i].ids);
    bool stop = all[i].ids.back() == 5 || all[i].ids.back() == 11;
    EXPECT_EQ(all[i].reason, stop ? FinishReason::stop : FinishReason::length);
    EXPECT_TRUE(stop || all[i].ids.size() == 30 ||
                texts[i].size() + all[i].ids.size() == static_cast<std::size_t>(options.longest));
    stopped |= stop, full |= !stop;
  }
  EXPECT_TRUE(stopped);
  options.seed = 4;
  EXPECT_NE(written(8)[1].ids, all[1].ids);
}

INSTANTIATE_TEST_SUITE_P(Models, CausalDecoding,
                         testing::Values("llama_tied_biased", "llama_untied_llama3_rope", "llama_linear_rope_old",
                                         "gpt2_tied", "gpt2_untied_unscaled"));

TEST(Decoder, EncoderDecoderTokenByTokenGivesTheBitsOfTheWholePrefix) {
  auto model = open(models / "marian_scaled");
  std::vector<Ids> sources = {{7, 17, 23, 14, 5}, {9}, {12, 3, 4, 8, 30, 31, 6, 2}};
  Decoder decoder(*model, {.page_tokens = 4});
  std::vector<Decoder::Sequence> sequences = decoder.begin(sources);
  Ids written = {38};
  for (std::int64_t next : {4, 9, 22, 30, 11, 3, 3}) {
    Tensor logits = decoder.step(sequences, std::vector<Ids>(3, Ids{written.back()}));
    for (std::int64_t s = 0; s < 3; ++s)
      ASSERT_EQ(logits.rows(s, s + 1).to_vector<float>(),
                logits_of(*model, sources[static_cast<std::size_t>(s)], written));
    written.push_back(next);
  }
}

TEST(Generate, StopsWhereItsReaderSaysSo) {
  auto model = open(models / "llama_tied_biased");
  std::map<std::int64_t, Ids> told;
  GenerateOptions options{.max_tokens = 20, .stop_ids = {}, .sampling = {}};
  std::vector<Generated> written = generate(*model, {{4, 5}, {6}}, options, {}, [&](std::int64_t s, std::int64_t id) {
    told[s].push_back(id);
    return s == 1 || told[s].size() < 4;
  });
  EXPECT_EQ(written[0].ids.size(), 4u);
  EXPECT_EQ(written[0].reason, FinishReason::stop);
  EXPECT_EQ(written[1].ids.size(), 20u);
  EXPECT_EQ(written[1].reason, FinishReason::length);
  EXPECT_EQ(written[0].ids, told[0]);
  EXPECT_EQ(written[1].ids, told[1]);
}

TEST(Generate, LongestCountsThePrompt) {
  auto model = open(models / "llama_tied_biased");
  GenerateOptions options{.max_tokens = 20, .longest = 8, .stop_ids = {}, .sampling = {}};
  EXPECT_EQ(generate(*model, {{4, 5, 6}}, options, {})[0].ids.size(), 5u);
  EXPECT_THROW(generate(*model, {Ids(8, 4)}, options, {}), Error);
  EXPECT_THROW(generate(*model, {Ids{}}, options, {}), Error);
  EXPECT_THROW(generate(*model, {{41}}, options, {}), Error);
  EXPECT_THROW(generate(*open(models / "marian_scaled"), {{4}}, options, {}), Error);
  EXPECT_THROW(generate(*open(models / "bert_masked_lm"), {{4}}, options, {}), Error);
}

TEST(Sampling, DrawsAsOftenAsTheProbabilitiesSay) {
  std::vector<float> logits = {std::log(0.5f), std::log(0.2f), std::log(0.3f)};
  auto shares = [&](const Sampling& sampling) {
    std::vector<double> share(3);
    for (std::uint64_t i = 0; i < 20000; ++i)
      share[static_cast<std::size_t>(choose_token(logits, sampling, RandomKey{.seed = 1, .step = i}))] += 1 / 20000.0;
    return share;
  };
  auto expect = [](const std::vector<double>& got, const std::vector<double>& wanted) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], wanted[i], 0.015) << i;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(wanted[i] > 0 || got[i] == 0) << i;
  };
  expect(shares({.temperature = 1}), {0.5, 0.2, 0.3});
  expect(shares({.temperature = 0.5}), {0.25 / 0.38, 0.04 / 0.38, 0.09 / 0.38});
  expect(shares({.temperature = 1, .top_k = 2}), {0.625, 0, 0.375});
  expect(shares({.temperature = 1, .top_p = 0.7}), {0.625, 0, 0.375});
  expect(shares({.temperature = 1, .top_p = 0.81}), {0.5, 0.2, 0.3});
  expect(shares({.temperature = 1, .top_k = 2, .top_p = 0.6}), {1, 0, 0});
  expect(shares({}), {1, 0, 0});
}

TEST(Sampling, NamesWhatIsOutOfRange) {
  EXPECT_THROW(check_sampling({.temperature = -1}), Error);
  EXPECT_THROW(check_sampling({.top_k = -1}), Error);
  EXPECT_THROW(check_sampling({.top_p = 0}), Error);
  EXPECT_THROW(choose_token(std::vector<float>{1, NAN}, {}, {}), Error);
}

/// A Marian model of five tokens with weights far from their initial ones.
std::unique_ptr<Model> tiny_translator() {
  Json config =
      parse_json(R"({"model_type": "marian", "architectures": ["MarianMTModel"], "vocab_size": 5, "d_model": 8,
      "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
      "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "max_position_embeddings": 16, "init_std": 0.9, "pad_token_id": 0,
      "decoder_start_token_id": 0, "eos_token_id": 1})",
                 "test");
  return build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 12}});
}

/// The best of all texts of at most `length` tokens, found by trying all.
void exhaust(const Model& model, const Ids& source, std::int64_t length, double penalty, const Ids& written,
             double score, BeamResult& best) {
  Tensor logits = Tensor::from<float>({1, 5}, logits_of(model, source, written));
  std::vector<float> log_probabilities = log_softmax(logits).to_vector<float>();
  for (std::int64_t token = 0; token < 5; ++token) {
    Ids longer = written;
    longer.push_back(token);
    double sum = score + static_cast<double>(log_probabilities[static_cast<std::size_t>(token)]);
    auto size = static_cast<std::int64_t>(longer.size()) - 1;
    if (token != 1 && size < length) {
      exhaust(model, source, length, penalty, longer, sum, best);
      continue;
    }
    double now = sum / std::pow(static_cast<double>(size), penalty);
    if (best.ids.empty() || now > best.score) best = {Ids(longer.begin() + 1, longer.end()), now, token == 1};
  }
}

TEST(BeamSearch, AsManyBeamsAsTextsFindTheBestOfAll) {
  auto model = tiny_translator();
  bool greedy_missed = false;
  for (double penalty : {1.0, 0.0, 2.5})
    for (const Ids& source : {Ids{2, 3}, Ids{4, 4, 2, 1}, Ids{3}}) {
      BeamResult best;
      exhaust(*model, source, 4, penalty, {0}, 0, best);
      BeamOptions options{.beams = 625, .length_penalty = penalty, .max_tokens = 4, .stop_ids = {1}};
      BeamResult found = beam_search(*model, {source}, options, {})[0];
      EXPECT_EQ(found.ids, best.ids);
      EXPECT_NEAR(found.score, best.score, 1e-6);
      EXPECT_EQ(found.stopped, best.stopped);
      options.beams = 1;
      greedy_missed |= beam_search(*model, {source}, options, {})[0].ids != best.ids;
    }
  EXPECT_TRUE(greedy_missed);  // else the test would show nothing
}

TEST(BeamSearch, ResultsDoNotDependOnTheCompany) {
  for (const char* name : {"marian_scaled", "marian_unscaled", "llama_tied_biased"}) {
    auto model = open(models / name);
    std::vector<Ids> sources = {{7, 17, 23, 14, 5}, {9}, {12, 3, 4, 8, 30, 31, 6, 2}, {5, 5, 5}};
    BeamOptions options{.beams = 4, .max_tokens = 20, .stop_ids = {2, 7}, .rules = {.forbidden_ids = {0}}};
    std::vector<BeamResult> together = beam_search(*model, sources, options, {});
    options.sequences_together = 8;
    std::vector<BeamResult> two = beam_search(*model, sources, options, {});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      BeamResult alone = beam_search(*model, {sources[i]}, options, {})[0];
      EXPECT_EQ(together[i].ids, alone.ids);
      EXPECT_EQ(together[i].score, alone.score);
      EXPECT_EQ(two[i].ids, alone.ids);
      EXPECT_EQ(two[i].score, alone.score);
      EXPECT_EQ(std::count(alone.ids.begin(), alone.ids.end(), 0), 0);
    }
  }
}

TEST(BeamSearch, SaysWhatIsWrong) {
  auto model = open(models / "marian_scaled");
  EXPECT_THROW(beam_search(*model, {Ids{}}, {}, {}), Error);
  EXPECT_THROW(beam_search(*model, {{4}}, {.beams = 0}, {}), Error);
  EXPECT_THROW(beam_search(*model, {{39}}, {}, {}), Error);
  for (std::int64_t beams : {most_beams + 1, std::int64_t{1} << 60}) try {
      beam_search(*model, {{4}}, {.beams = beams}, {});
      ADD_FAILURE() << beams;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("give 1 to 1000"), std::string::npos) << error.what();
    }
  std::atomic<bool> cancel = true;
  EXPECT_THROW(beam_search(*model, {{4}}, {}, {.progress = {}, .cancel = &cancel}), Cancelled);
}

TEST(BeamSearch, StopsAmongEndlessTextsOfManyBeams) {
  auto model = open(models / "marian_scaled");
  std::atomic<bool> cancel = false;
  std::int64_t steps = 0;
  attune::Run run{.progress = [&](const Progress&) { cancel = ++steps == 3; }, .cancel = &cancel};
  BeamOptions options{.beams = most_beams, .max_tokens = std::int64_t{1} << 60, .stop_ids = {}};
  EXPECT_THROW(beam_search(*model, {{4, 5}}, options, run), Cancelled);
  EXPECT_EQ(steps, 3);
}

TEST(Generate, StopsInAnEndlessText) {
  auto model = open(models / "llama_tied_biased");
  std::atomic<bool> cancel = false;
  std::int64_t tokens = 0;
  GenerateOptions options{.max_tokens = std::int64_t{1} << 60, .stop_ids = {}, .sampling = {.temperature = 1}};
  EXPECT_THROW(generate(*model, {{4, 5}}, options, {.progress = {}, .cancel = &cancel},
                        [&](std::int64_t, std::int64_t) { return cancel = ++tokens == 3, true; }),
               Cancelled);
  EXPECT_EQ(tokens, 3);
}

TEST(Alignment, EachWrittenTokenHasOneOfTheSource) {
  auto model = open(models / "marian_scaled");
  std::vector<Ids> sources = {{7, 17, 23, 14, 5}, {9}}, written = {{4, 5, 6, 2}, {8, 2}};
  std::vector<Ids> together = align(*model, sources, written);
  ASSERT_EQ(together.size(), 2u);
  ASSERT_EQ(together[0].size(), 4u);
  for (std::int64_t i : together[0]) EXPECT_TRUE(i >= 0 && i < 5);
  EXPECT_EQ(together[1], (Ids{0, 0}));
  EXPECT_EQ(align(*model, {sources[0]}, {written[0]})[0], together[0]);
}

}  // namespace
}  // namespace attune
