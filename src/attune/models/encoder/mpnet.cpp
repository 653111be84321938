// MPNet: Song et al. 2020, "MPNet: masked and permuted pre-training for language understanding". RoBERTa with T5's
// learned bias by distance, one table for all layers, and no kinds of text. Weight names as published on Hugging Face.
// Surprises there: the padding token is 1 for look-ups and positions, whatever pad_token_id is, and distances always
// fall into 32 buckets: relative_attention_num_buckets is the table's size alone.
#include "attune/models/encoder/bert_family.h"
#include "attune/models/encoder/counted_positions.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

namespace {

constexpr std::int64_t padding = 1;
constexpr T5Buckets distances{.buckets = 32, .longest = 128, .both_ways = true};

BlockOf blocks_with_bias(const BertFamily& b, const Weights& table, std::int64_t rows) {
  const Tensor numbers = table.parameter("weight", {rows, b.heads}, Initial::normal(b.deviation));
  const ScoreChanges bias = distance_bias(numbers, [](std::int64_t d) { return t5_bucket(d, distances); });
  return [b, bias](const Weights& w, Place place) {
    Block block = b.block(w, place);
    block.attention.rule.scores = bias;
    return block;
  };
}

EncoderSpec read_mpnet(const ConfigReader& c) {
  BertFamily b = BertFamily::read(c, {.vocab_size = 30527, .types = 0, .pad_token_id = padding});
  b.types = 0;
  b.names = {.query = "attention.attn.q",
             .key = "attention.attn.k",
             .value = "attention.attn.v",
             .output = "attention.attn.o",
             .attention_norm = "attention.LayerNorm"};
  const std::int64_t rows = c.integer_or("relative_attention_num_buckets", 32,
                                         {.at_least = static_cast<double>(distances.buckets), .at_most = 1 << 20});
  const auto count = PositionCount::behind_padding(b.positions, padding);
  if (count.longest() < 1) c.reject("max_position_embeddings", "positions begin at 2: give more");
  EncoderSpec spec = b.spec("mpnet", "mpnet");
  spec.longest = count.longest();
  spec.padding_row = padding;
  spec.positions = [b, count](const Weights& base) {
    return counted_positions(base / "embeddings.position_embeddings", count, b.hidden_size, b.deviation);
  };
  spec.blocks = [b, rows](const Weights& base, HeadKind) {
    return blocks_with_bias(b, base / "encoder.relative_attention_bias", rows);
  };
  HeadLayers masked = b.masked_lm("lm_head", "dense", "layer_norm");
  masked.activation = Activation::gelu;  // whatever hidden_act is
  spec.names.norms.push_back("layer_norm");
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(Activation::tanh, b.hidden_dropout)},
                {HeadKind::tag, output_alone("classifier", b.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture mpnet(encoder_architecture(
    {.model_type = "mpnet", .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob"}}, "MPNet",
    read_mpnet));

}  // namespace

}  // namespace attune
