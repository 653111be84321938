// DistilBERT: Sanh et al. 2019, "DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter". BERT
// without kinds of text and without a pooler. Weight names as published on Hugging Face. sinusoidal_pos_embds says how
// the table of positions began; it is in the file like any other.
#include "attune/models/config_values.h"
#include "attune/models/encoder/bert_family.h"

namespace attune {

namespace {

BertFamily read_values(const ConfigReader& c) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
  BertFamily b{.layers = 6, .types = 0, .epsilon = 1e-12};
  b.vocab_size = c.integer_or("vocab_size", b.vocab_size, count);
  b.hidden_size = c.integer_or("dim", b.hidden_size, count);
  b.layers = c.integer_or("n_layers", b.layers, {.at_least = 1, .at_most = 4096});
  b.heads = c.integer_or("n_heads", b.heads, count);
  if (b.hidden_size % b.heads != 0) c.reject("n_heads", "must divide dim");
  b.intermediate_size = c.integer_or("hidden_dim", 4 * 768, count);
  b.positions = c.integer_or("max_position_embeddings", b.positions, count);
  if (c.has("pad_token_id")) b.pad_token_id = c.integer("pad_token_id", {.at_least = 0});
  b.activation = read_activation(c, "activation", "gelu");
  b.hidden_dropout = c.number_or("dropout", 0.1, {0, 1});
  b.attention_dropout = c.number_or("attention_dropout", 0.1, {0, 1});
  b.deviation = c.number_or("initializer_range", b.deviation, {.at_least = 0, .at_most = 100});
  b.tied = c.flag_or("tie_word_embeddings", true);
  if (!c.flag_or("tie_weights_", true)) c.reject("tie_weights_", "no published code reads it: use tie_word_embeddings");
  c.flag_or("sinusoidal_pos_embds", false);
  c.ignore({"pad_token_id", "bos_token_id", "eos_token_id", "chunk_size_feed_forward", "output_past"});
  b.names = {.query = "attention.q_lin",
             .key = "attention.k_lin",
             .value = "attention.v_lin",
             .output = "attention.out_lin",
             .attention_norm = "sa_layer_norm",
             .up = "ffn.lin1",
             .down = "ffn.lin2",
             .feedforward_norm = "output_layer_norm"};
  return b;
}

EncoderSpec read_distilbert(const ConfigReader& c) {
  const BertFamily b = read_values(c);
  EncoderSpec spec = b.spec("distilbert", "distilbert");
  spec.names.layers = "transformer.layer";
  spec.names.norms = {"LayerNorm", "layer_norm"};
  HeadLayers masked{.dense = "vocab_transform", .norm = "vocab_layer_norm", .output = "vocab_projector"};
  masked.tied_bias = masked.untied_bias = "vocab_projector.bias";
  masked.activation = b.activation;
  masked.epsilon = b.epsilon;
  HeadLayers classifier = classifier_of_pooler("pre_classifier", c.number_or("seq_classif_dropout", 0.2, {0, 1}));
  classifier.activation = Activation::relu;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier},
                {HeadKind::tag, output_alone("classifier", b.hidden_dropout)},
                {HeadKind::answer, output_alone("qa_outputs", c.number_or("qa_dropout", 0.1, {0, 1}))}};
  return spec;
}

const RegisterArchitecture distilbert(encoder_architecture(
    {.model_type = "distilbert", .dropout_keys = {"dropout", "attention_dropout", "qa_dropout", "seq_classif_dropout"}},
    "DistilBert", read_distilbert));

}  // namespace

}  // namespace attune
