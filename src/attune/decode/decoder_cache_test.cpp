// What decoding keeps of keys and values: shared beginnings, narrow formats, windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"
#include "attune/decode/generate.h"
#include "attune/models/architecture.h"

namespace attune {
namespace {

const Path models = Path(ATTUNE_GOLDEN_DIR) / "models";

class DecoderCaches : public testing::TestWithParam<const char*> {};

/// Texts that begin alike: two groups, one inside the other, and one text apart. Their beginnings are a page and a bit.
std::vector<Ids> alike_texts(const Model& model, std::int64_t page) {
  const std::int64_t vocabulary = model.facts().vocab_size - 1;
  RandomStream random({.seed = 9});
  auto longer = [&](Ids text, std::int64_t by) {
    for (std::int64_t i = 0; i < by; ++i) text.push_back(3 + random.below(vocabulary - 4));
    return text;
  };
  const Ids common = longer({}, page + 1 + page / 8), inner = longer(common, page + 1);
  return {longer(common, 5),
          longer(common, page / 2),
          longer(inner, 3),
          inner,
          longer(inner, 3),
          longer({}, page + 16),
          common};
}

TEST_P(DecoderCaches, PromptsThatBeginAlikeShareTheirPagesAndKeepTheirBits) {
  auto model = open(models / GetParam());
  const std::int64_t page = model->facts().longest.value_or(200) < 160 ? 4 : 64;  // GPT-2's table is short
  const std::vector<Ids> texts = alike_texts(*model, page);
  std::vector<Decoder::Prompt> prompts;
  for (const Ids& text : texts) prompts.push_back({text});
  Decoder decoder(*model, {.page_tokens = page}), apart(*model, {.page_tokens = page});
  std::vector<Decoder::Sequence> sequences, alone;
  std::vector<Ids> left;
  for (const Decoder::Begun& begun : decoder.begin(prompts)) {
    sequences.push_back(begun.sequence);
    left.push_back(begun.left);
    alone.push_back(apart.begin());
  }
  std::size_t tokens_left = 0;
  for (const Ids& ids : left) tokens_left += ids.size();
  EXPECT_EQ(tokens_left, static_cast<std::size_t>(5 + page / 2 + 3 + 1 + 3 + page + 16 + 1));
  EXPECT_EQ(decoder.step(sequences, left).to_vector<float>(), apart.step(alone, texts).to_vector<float>());
  const std::vector<Ids> next(texts.size(), Ids{5});
  EXPECT_EQ(decoder.step(sequences, next).to_vector<float>(), apart.step(alone, next).to_vector<float>());
  EXPECT_LT(decoder.cache_bytes(), apart.cache_bytes() * 3 / 4);
  // One that comes later shares with those that are there.
  Ids late = texts[4];
  late.push_back(7);
  const Decoder::Begun begun = decoder.begin(std::vector<Decoder::Prompt>{{late}})[0];
  EXPECT_EQ(begun.left.size(), 1u);
  EXPECT_EQ(decoder.step(std::vector{begun.sequence}, {begun.left}).to_vector<float>(), logits_of(*model, late));
  for (const Decoder::Sequence& sequence : sequences) decoder.drop(sequence);
  EXPECT_EQ(decoder.length(begun.sequence), static_cast<std::int64_t>(late.size()));
  decoder.drop(begun.sequence);
  EXPECT_EQ(decoder.cache_bytes(), 0);
}

TEST_P(DecoderCaches, GeneratedTextsAndBeamsDoNotDependOnWhatTheirPromptsShare) {
  auto model = open(models / GetParam());
  const std::int64_t longest = model->facts().longest.value_or(0);
  const std::vector<Ids> texts = longest > 0 ? alike_texts(*model, 4) : alike_texts(*model, 64);
  const GenerateOptions options{.max_tokens = 9, .longest = longest, .stop_ids = {}, .sampling = {}};
  const BeamOptions beams{.beams = 3, .max_tokens = 6, .longest = longest, .stop_ids = {2}};
  const std::vector<Generated> written = generate(*model, texts, options, {});
  const std::vector<BeamResult> found = beam_search(*model, texts, beams, {});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(written[i].ids, generate(*model, {texts[i]}, options, {})[0].ids) << i;
    const BeamResult alone = beam_search(*model, {texts[i]}, beams, {})[0];
    EXPECT_EQ(found[i].ids, alone.ids) << i;
    EXPECT_EQ(found[i].score, alone.score) << i;
  }
}

TEST_P(DecoderCaches, NarrowCachesWriteWhateverTheCompany) {
  auto model = open(models / GetParam());
  for (CacheFormat format : {CacheFormat::f16, CacheFormat::int8}) {
    GenerateOptions options{.max_tokens = 20,
                            .longest = model->facts().longest.value_or(0),
                            .stop_ids = {},
                            .sampling = {},
                            .cache = format};
    const std::vector<Ids> texts = eight_texts(*model);
    const std::vector<Generated> all = generate(*model, texts, options, {});
    options.sequences_together = 1;
    const std::vector<Generated> one = generate(*model, texts, options, {});
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].ids, one[i].ids);
    BeamOptions beams{.beams = 3, .max_tokens = 10, .longest = options.longest, .stop_ids = {2}, .cache = format};
    const std::vector<BeamResult> together = beam_search(*model, texts, beams, {});
    EXPECT_EQ(together[1].score, beam_search(*model, {texts[1]}, beams, {})[0].score);
  }
}

TEST_P(DecoderCaches, NarrowCachesLoseLittle) {
  auto model = open(models / GetParam());
  const Ids text = eight_texts(*model)[3];
  const std::vector<float> exact = logits_of(*model, text);
  float largest = 0;
  for (float x : exact) largest = std::max(largest, std::abs(x));
  for (CacheFormat format : {CacheFormat::f16, CacheFormat::int8}) {
    Decoder decoder(*model, {.format = format});
    const std::vector<Decoder::Sequence> sequence = {decoder.begin()};
    std::vector<float> near;
    for (std::int64_t id : text) near = decoder.step(sequence, {{id}}).to_vector<float>();
    float most = 0;
    for (std::size_t i = 0; i < near.size(); ++i) most = std::max(most, std::abs(near[i] - exact[i]));
    EXPECT_LT(most, (format == CacheFormat::f16 ? 2e-3f : 4e-2f) * largest);
    EXPECT_GT(most, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderCaches,
                         testing::Values("llama_tied_biased", "llama_untied_llama3_rope", "gpt2_tied"));

/// Every golden of a model that writes by itself.
std::vector<std::string> decoders() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    const std::string made = read_json(entry.path() / "config.json")["architectures"][0].get<std::string>();
    if (made.ends_with("ForCausalLM") || made == "GPT2LMHeadModel") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EveryDecoder : public testing::TestWithParam<std::string> {};

// Two texts in one cache, one with a prompt and one from its first token, each step against the prefix run anew. Pages
// are shorter than windows.
TEST_P(EveryDecoder, GivesWithACacheTheBitsOfTheWholePrefix) {
  auto model = open(models / GetParam());
  RecordProperty("model_type", model->facts().model_type);
  const std::int64_t length = std::min<std::int64_t>(model->facts().longest.value_or(30), 30);
  RandomStream random({.seed = 6});
  std::vector<Ids> texts(2), written(2);
  for (Ids& text : texts)
    for (std::int64_t i = 0; i < length; ++i) text.push_back(3 + random.below(model->facts().vocab_size - 4));
  auto whole_prefix = [&](const Ids& ids) {
    NoGradient none;
    Batch batch = Batch::of({ids});
    batch.planned_lengths = {length};
    const Ids last = {static_cast<std::int64_t>(ids.size()) - 1};
    return model->head().logits(model->forward(batch), batch, &last).to_vector<float>();
  };
  Decoder decoder(*model, {.page_tokens = 4});
  const std::vector sequences = {decoder.begin(length), decoder.begin(length)};
  std::vector<std::size_t> pieces = {6, 1};
  while (written[0].size() < static_cast<std::size_t>(length)) {
    std::vector<Ids> next(2);
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t i = 0; i < pieces[s]; ++i) next[s].push_back(texts[s][written[s].size() + i]);
    const Tensor logits = decoder.step(sequences, next);
    for (std::size_t s = 0; s < 2; ++s) {
      written[s].insert(written[s].end(), next[s].begin(), next[s].end());
      const auto row = static_cast<std::int64_t>(s);
      ASSERT_EQ(logits.rows(row, row + 1).to_vector<float>(), whole_prefix(written[s])) << written[s].size();
    }
    pieces = {1, 1};
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryDecoder, testing::ValuesIn(decoders()),
                         [](const auto& info) { return info.param; });

// Where rope scaling depends on the request's length, so do the keys: only requests of one length share a beginning.
TEST(Decoder, KeysThatDependOnTheLengthAreNotShared) {
  Json config = parse_json(R"({"model_type": "attune", "architectures": ["AttuneForCausalLM"], "vocab_size": 40,
      "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
      "positions": {"method": "rotary"}})",
                           "test");
  Ids prompt;
  for (std::int64_t i = 0; i < 100; ++i) prompt.push_back(3 + i * 7 % 31);
  const std::vector<Decoder::Prompt> apart = {{prompt, 150}, {prompt, 160}}, alike = {{prompt, 150}, {prompt, 150}};
  for (bool scaled : {false, true}) {
    if (scaled)
      config["positions"] = {
          {"method", "rotary"},
          {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}, {"original_max_position_embeddings", 20}}}};
    const auto model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 12}});
    Decoder decoder(*model), other(*model);
    EXPECT_EQ(decoder.begin(alike)[1].left.size(), 1u);
    EXPECT_EQ(other.begin(apart)[1].left.size(), scaled ? 100u : 1u);
  }
}

// A window's cache holds the window's pages, however long the text, and its logits are those of the whole text.
TEST(Decoder, AWindowsMemoryDoesNotGrow) {
  const Json config = parse_json(R"({"model_type": "attune", "architectures": ["AttuneForCausalLM"], "vocab_size": 40,
      "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
      "attention": {"family": "streaming", "one_sided": 40, "first_keys": 3}})",
                                 "test");
  const auto model = build_model(config, "test", {.checkpoint = nullptr, .initial = RandomKey{.seed = 12}});
  Decoder decoder(*model, {.page_tokens = 16});
  const std::vector<Decoder::Sequence> sequence = {decoder.begin()};
  Ids text;
  std::int64_t early = 0;
  for (std::int64_t i = 0; i < 400; ++i) {
    text.push_back(3 + i * 7 % 31);
    const Tensor logits = decoder.step(sequence, {{text.back()}});
    if (i % 50 == 49) {
      ASSERT_EQ(logits.to_vector<float>(), logits_of(*model, text)) << i;
    }
    if (i < 100) early = std::max(early, decoder.cache_bytes());
    ASSERT_LE(decoder.cache_bytes(), early) << i;
  }
}

}  // namespace
}  // namespace attune
