// Attention families that are masks, decoded with a cache: the bits of one forward of the whole text.
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/conformance/conformance.h"
#include "attune/decode/generate.h"
#include "attune/models/architecture.h"
#include "attune/nn/attention/family.h"

namespace attune {
namespace {

std::unique_ptr<Model> decoder_with(const Json& attention) {
  const Json config = {{"model_type", "attune"},   {"architectures", {"AttuneForCausalLM"}},
                       {"vocab_size", 30},         {"hidden_size", 16},
                       {"num_hidden_layers", 2},   {"num_attention_heads", 2},
                       {"num_key_value_heads", 1}, {"initializer_range", 0.3},
                       {"attention", attention}};
  return build_model(config, "a test's config", {.checkpoint = nullptr, .initial = {.seed = 4}});
}

TEST(FamiliesInDecoding, MasksGiveTheBitsOfOneForwardOfTheWholeText) {
  NoGradient none;
  std::vector<std::int64_t> text;
  RandomStream random({.seed = 9});
  for (int i = 0; i < 150; ++i) text.push_back(random.below(30));
  for (const Json& attention : std::vector<Json>{{{"family", "full"}},
                                                 {{"family", "window"}, {"one_sided", 20}},
                                                 {{"family", "window"}, {"one_sided", 7}, {"dilation", 3}},
                                                 {{"family", "longformer"}, {"one_sided", 20}, {"global_tokens", 2}},
                                                 {{"family", "bigbird"}, {"block", 8}, {"random_blocks", 2}},
                                                 {{"family", "strided"}, {"stride", 12}},
                                                 {{"family", "streaming"}, {"one_sided", 20}}}) {
    SCOPED_TRACE(attention.dump());
    auto model = decoder_with(attention);
    const Batch batch = Batch::of({text});
    const Tensor whole = model->head().logits(model->forward(batch), batch);
    Decoder decoder(*model, {.page_tokens = 16});
    const Decoder::Sequence sequence = decoder.begin();
    const std::size_t prompt = 40;
    Tensor logits = decoder.step(std::vector{sequence}, {{text.begin(), text.begin() + prompt}});
    for (std::size_t t = prompt; t < text.size(); ++t) {
      const auto row = static_cast<std::int64_t>(t);
      ASSERT_EQ(logits.to_vector<float>(), whole.rows(row - 1, row).to_vector<float>()) << "token " << t;
      logits = decoder.step(std::vector{sequence}, {{text[t]}});
    }
  }
}

/// Families that keep a state give the same up to rounding; a step's bits do not depend on what is decoded beside it,
/// forks go their own ways, and what is kept does not grow.
TEST(FamiliesInDecoding, RecurrentOnesGoOnFromAStateOfConstantSize) {
  NoGradient none;
  RandomStream random({.seed = 9});
  std::vector<std::int64_t> text, other;
  for (int i = 0; i < 80; ++i) text.push_back(random.below(30)), other.push_back(random.below(30));
  int tried = 0;
  for (const FamilyEntry& family : attention_families()) {
    auto model = family.in_decoder ? decoder_with({{"family", family.name}}) : nullptr;
    if (!model || model->decoding_blocks().empty() || !model->decoding_blocks().front().attention.family ||
        !model->decoding_blocks().front().attention.family->keeps_states())
      continue;
    SCOPED_TRACE(family.name);
    const Batch batch = Batch::of({text});
    const Tensor whole = model->head().logits(model->forward(batch), batch);
    Decoder decoder(*model), alone(*model);
    const std::vector<Decoder::Sequence> both = {decoder.begin(), decoder.begin()}, one = {alone.begin()};
    const std::size_t prompt = 40;
    decoder.step(both, {{other.begin(), other.begin() + 7}, {text.begin(), text.begin() + prompt}});
    alone.step(one, {{text.begin(), text.begin() + prompt}});
    const Decoder::Sequence fork = decoder.fork(both[1]);
    decoder.step(std::vector{fork}, {{3}});  // changes nothing of its parent
    for (std::size_t t = prompt; t < text.size(); ++t) {
      const auto row = static_cast<std::int64_t>(t);
      const Tensor logits = decoder.step(both, {{other[t]}, {text[t]}});
      EXPECT_LT(conformance::relative_difference(logits.rows(1, 2), whole.rows(row, row + 1)), 1e-4) << t;
      EXPECT_TRUE(conformance::same_bits(logits.rows(1, 2), alone.step(one, {{text[t]}}))) << t;
    }
    EXPECT_EQ(decoder.length(both[1]), 80);
    EXPECT_EQ(decoder.length(fork), 41);
    const std::int64_t bytes = decoder.state_bytes();
    decoder.step(both, {other, text});
    EXPECT_EQ(decoder.state_bytes(), bytes);
    EXPECT_GT(bytes, 0);
    decoder.drop(fork);
    EXPECT_LT(decoder.state_bytes(), bytes);
    ++tried;
  }
  EXPECT_GE(tried, 4);
}

/// A state cannot be cut back to a shared beginning, as a cache's pages can: prompts that begin alike are each read.
TEST(FamiliesInDecoding, RecurrentOnesGiveAPromptWhatItGetsAloneWhateverItSharesWithOthers) {
  RandomStream random({.seed = 3});
  std::vector<std::int64_t> beginning;
  for (int i = 0; i < 150; ++i) beginning.push_back(random.below(30));
  std::vector<std::vector<std::int64_t>> prompts(3, beginning);
  prompts[1].push_back(4), prompts[2].push_back(9);
  for (const char* family : {"linear", "retnet", "gla"}) {
    auto model = decoder_with({{"family", family}});
    const std::vector<Generated> together = generate(*model, prompts, {.max_tokens = 12}, {});
    for (std::size_t i = 0; i < prompts.size(); ++i)
      EXPECT_EQ(together[i].ids, generate(*model, {prompts[i]}, {.max_tokens = 12}, {})[0].ids) << family << " " << i;
  }
}

TEST(FamiliesInDecoding, OneThatWritesNoTextSaysWhichDo) {
  for (const FamilyEntry& family : attention_families()) {
    if (!family.in_decoder) continue;
    SCOPED_TRACE(family.name);
    auto model = decoder_with({{"family", family.name}});
    try {
      Decoder decoder(*model);
      EXPECT_TRUE(family.writes_text);
    } catch (const Error& error) {
      EXPECT_FALSE(family.writes_text) << error.what();
      EXPECT_NE(std::string(error.what()).find("full, gla, linear"), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find("knn"), std::string::npos) << error.what();
    }
  }
}

TEST(FamiliesInDecoding, OneThatKeepsStatesSaysToLeaveTheCacheOut) {
  auto model = decoder_with({{"family", "linear"}});
  try {
    Decoder decoder(*model, {.format = CacheFormat::f16});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("leave"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attune
