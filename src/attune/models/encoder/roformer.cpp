// RoFormer: Su et al. 2021, "RoFormer: enhanced Transformer with rotary position embedding". BERT whose queries and
// keys turn by position, pairs of neighbours together, and where rotary_value asks for it the values, too. Weight names
// as published on Hugging Face; their table of sines (encoder.embed_positions) is computed here, and bounds the length.
#include "attune/models/encoder/bert_family.h"

namespace attune {

namespace {

EncoderSpec read_roformer(const ConfigReader& c) {
  const BertFamily b = BertFamily::read(c, {.vocab_size = 50000, .positions = 1536});
  if (b.head_dim() % 2 != 0) c.reject("num_attention_heads", "rotary positions need an even head_dim");
  const std::int64_t width = c.integer_or("embedding_size", b.hidden_size, {.at_least = 1, .at_most = 1 << 28});
  const bool values_turn = c.flag_or("rotary_value", false);
  c.ignore({"summary_type", "summary_use_proj", "summary_activation", "summary_last_dropout"});  // of multiple choice
  EncoderSpec spec = b.spec("roformer", "roformer");
  spec.embedding_size = width;
  if (width != b.hidden_size) spec.embedding_steps.push_back(EmbeddingStep::project);
  spec.embedding_norm = [b, width](const Weights& w) { return b.norm(w, width); };
  spec.positions = {};
  spec.rope = {{.theta = 10000, .rotary_dims = b.head_dim(), .pairing = RotaryPairing::interleaved}};
  spec.names.unused.push_back("encoder.embed_positions.weight");
  spec.blocks = [b, values_turn](const Weights&, HeadKind) -> BlockOf {
    return [b, values_turn](const Weights& w, Place place) {
      Block block = b.block(w, place);
      block.attention.rotary_values = values_turn;
      return block;
    };
  };
  HeadLayers masked = b.masked_lm("cls.predictions", "transform.dense", "transform.LayerNorm");
  masked.width = width;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_two_layers(b.activation, b.hidden_dropout)},
                {HeadKind::tag, output_alone("classifier", b.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", 0)}};
  return spec;
}

const RegisterArchitecture roformer(encoder_architecture(
    {.model_type = "roformer", .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob"}}, "RoFormer",
    read_roformer));

}  // namespace

}  // namespace attune
