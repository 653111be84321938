// Attention families that are masks, decoded with a cache: the bits of one forward of the whole text.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/decode/decoder.h"
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
    Decoder decoder(*model, 16);
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

TEST(FamiliesInDecoding, OneWithoutAMaskSaysThatItKeepsNoCache) {
  int tried = 0;
  for (const FamilyEntry& family : attention_families()) {
    if (!family.in_decoder) continue;
    auto model = decoder_with({{"family", family.name}});
    if (!model->decoding_blocks().front().attention.family) continue;
    try {
      Decoder decoder(*model);
      FAIL() << family.name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cache"), std::string::npos) << error.what();
    }
    ++tried;
  }
  EXPECT_GE(tried, 0);
}

}  // namespace
}  // namespace attune
