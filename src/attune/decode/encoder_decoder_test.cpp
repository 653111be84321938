// Encoder-decoders in decoding: the cache of each, and what transformers' generate() writes with T5 and BART
// (tests/golden/generation/encoder_decoders.json, made by tools/golden/model_families/encoder_decoder_generation.py).
#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/decode/alignment.h"
#include "attune/decode/beam_search.h"
#include "attune/decode/decoding_cases.h"

namespace attune {
namespace {

const Path golden = ATTUNE_GOLDEN_DIR;

class EncoderDecoders : public testing::TestWithParam<const char*> {};

TEST_P(EncoderDecoders, TokenByTokenGivesTheBitsOfTheWholePrefix) {
  auto model = open(golden / "models" / GetParam());
  RecordProperty("model_type", model->facts().model_type);
  const std::vector<Ids> sources = {{7, 17, 23, 14, 5}, {9}, {12, 3, 4, 8, 30, 31, 6, 5}};
  Decoder decoder(*model, {.page_tokens = 4});
  const std::vector<Decoder::Sequence> sequences = decoder.begin(sources);
  Ids written = {model->facts().decoder_start_token_id.value()};
  for (std::int64_t next : {4, 9, 22, 30, 11, 3, 3, 17, 8, 8, 5, 20}) {
    const Tensor logits = decoder.step(sequences, std::vector<Ids>(3, Ids{written.back()}));
    for (std::int64_t s = 0; s < 3; ++s)
      ASSERT_EQ(logits.rows(s, s + 1).to_vector<float>(),
                logits_of(*model, sources[static_cast<std::size_t>(s)], written));
    written.push_back(next);
  }
}

TEST_P(EncoderDecoders, EachWrittenTokenIsAlignedWithOneOfTheSource) {
  auto model = open(golden / "models" / GetParam());
  const std::vector<Ids> aligned = align(*model, {{7, 17, 23, 14, 5}, {9}}, {{4, 5, 6, 3}, {8, 3}});
  ASSERT_EQ(aligned[0].size(), 4u);
  for (std::int64_t i : aligned[0]) EXPECT_TRUE(i >= 0 && i < 5);
  EXPECT_EQ(aligned[1], (Ids{0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Models, EncoderDecoders,
                         testing::Values("bart_scaled", "bart_untied", "mbart_scaled", "pegasus_scaled",
                                         "m2m_100_odd_width", "t5_scaled", "t5_v1_1", "mt5_tied", "umt5_scaled",
                                         "marian_scaled"));

TEST(EncoderDecoders, BeginWithWhatIsAskedFor) {
  auto model = open(golden / "models" / "mbart_scaled");
  const std::vector<Ids> sources = {{7, 17, 23, 14, 5}};
  const std::int64_t own = model->facts().decoder_start_token_id.value();
  const double score = beam_search(*model, sources, {.max_tokens = 5}, {})[0].score;
  EXPECT_EQ(beam_search(*model, sources, {.max_tokens = 5, .begin_id = own}, {})[0].score, score);
  EXPECT_NE(beam_search(*model, sources, {.max_tokens = 5, .begin_id = own + 1}, {})[0].score, score);
  EXPECT_THROW(beam_search(*model, sources, {.max_tokens = 5, .begin_id = 39}, {}), Error);
}

TEST(EncoderDecoders, WriteWhatTransformersWrites) {
  const Json cases = read_json(golden / "generation" / "encoder_decoders.json");
  EXPECT_GT(cases.size(), 10u);
  for (const Json& one : cases) {
    SCOPED_TRACE(one["model"].get<std::string>() + ", beams " + one["beams"].dump());
    auto model = open(golden / "models" / one["model"].get<std::string>());
    BeamOptions options{.beams = one["beams"],
                        .length_penalty = one["length_penalty"],
                        .max_tokens = one["max_tokens"],
                        .stop_ids = one["stop_ids"]};
    if (!one["forced_stop_id"].is_null()) options.forced_stop_id = one["forced_stop_id"].get<std::int64_t>();
    if (one.contains("forced_first_id")) options.forced_first_id = one["forced_first_id"].get<std::int64_t>();
    const std::vector<BeamResult> found = beam_search(*model, one["inputs"].get<std::vector<Ids>>(), options, {});
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Json& expected = one["expected"][i];
      EXPECT_EQ(found[i].ids, expected["ids"].get<Ids>()) << "input " << i;
      if (!expected.contains("score")) continue;
      EXPECT_NEAR(found[i].score, expected["score"].get<double>(), 1e-5) << "input " << i;
    }
  }
}

}  // namespace
}  // namespace attune
