#include "attune/models/encoder/bert_family.h"

#include "attune/models/config_values.h"
#include "attune/nn/position/learned.h"

namespace attune {

BertFamily BertFamily::read(const ConfigReader& c, const BertFamily& defaults) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
  BertFamily b = defaults;
  b.vocab_size = c.integer_or("vocab_size", b.vocab_size, count);
  b.hidden_size = c.integer_or("hidden_size", b.hidden_size, count);
  b.layers = c.integer_or("num_hidden_layers", b.layers, {.at_least = 1, .at_most = 4096});
  b.heads = c.integer_or("num_attention_heads", b.heads, count);
  if (b.hidden_size % b.heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
  b.intermediate_size = c.integer_or("intermediate_size", b.intermediate_size, count);
  b.positions = c.integer_or("max_position_embeddings", b.positions, count);
  b.types = c.integer_or("type_vocab_size", b.types, {.at_least = 0, .at_most = 1 << 28});
  if (c.has("pad_token_id")) b.pad_token_id = c.integer("pad_token_id", {.at_least = 0});
  b.activation = read_activation(c, "hidden_act", std::string(name_of(b.activation)));
  b.hidden_dropout = c.number_or("hidden_dropout_prob", b.hidden_dropout, {0, 1});
  b.attention_dropout = c.number_or("attention_probs_dropout_prob", b.attention_dropout, {0, 1});
  b.deviation = c.number_or("initializer_range", b.deviation, {.at_least = 0, .at_most = 100});
  b.epsilon = c.number_or("layer_norm_eps", b.epsilon, {.at_least = 0, .at_most = 1});
  b.tied = c.flag_or("tie_word_embeddings", b.tied);
  c.ignore({"pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id"});
  // In configs of the first published models; no code reads them.
  c.ignore({"chunk_size_feed_forward", "directionality", "output_past", "pooler_fc_size", "pooler_num_attention_heads",
            "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  for (const char* decoder_only : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    if (c.flag_or(decoder_only, false)) c.reject(decoder_only, "this architecture is an encoder here");
  return b;
}

Block BertFamily::block(const Weights& w, Place place) const {
  const LinearOptions dense{.deviation = deviation};
  const LinearOptions projection{.bias = query_key_value_bias, .deviation = deviation};
  return {.attention = {.query = Linear(w / names.query, hidden_size, hidden_size, projection),
                        .key = Linear(w / names.key, hidden_size, hidden_size, projection),
                        .value = Linear(w / names.value, hidden_size, hidden_size, projection),
                        .output = Linear(w / names.output, hidden_size, hidden_size, dense),
                        .sizes = {heads, heads, head_dim()},
                        .rule = {.mask = bidirectional()},
                        .dropout = attention_dropout},
          .attention_norm = norm(w / names.attention_norm, hidden_size),
          .feedforward = {.up = Linear(w / names.up, hidden_size, intermediate_size, dense),
                          .down = Linear(w / names.down, intermediate_size, hidden_size, dense),
                          .activation = activation},
          .feedforward_norm = norm(w / names.feedforward_norm, hidden_size),
          .order = order,
          .dropout = hidden_dropout,
          .place = place};
}

EncoderSpec BertFamily::spec(const std::string& model_type, const std::string& base) const {
  return {.model_type = model_type,
          .names = {.base = base},
          .vocab_size = vocab_size,
          .hidden_size = hidden_size,
          .layers = layers,
          .types = types,
          .deviation = deviation,
          .longest = positions,
          .pad_token_id = pad_token_id,
          .padding_row = pad_token_id,
          .positions = [b = *this](const Weights& w) -> std::function<Tensor(const Batch&)> {
            return LearnedPositions(w / "embeddings.position_embeddings", b.positions, b.hidden_size, b.deviation);
          },
          .embedding_norm = [b = *this](const Weights& w) { return b.norm(w, b.hidden_size); },
          .embedding_dropout = hidden_dropout,
          .blocks = [b = *this](const Weights&, HeadKind) -> BlockOf {
            return [b](const Weights& w, Place place) { return b.block(w, place); };
          },
          .tied = tied};
}

HeadLayers BertFamily::masked_lm(const std::string& scope, const std::string& dense, const std::string& norm) const {
  return {.dense = scope + "." + dense,
          .norm = scope + "." + norm,
          .output = scope + ".decoder",
          .tied_bias = scope + ".bias",
          .untied_bias = scope + ".decoder.bias",
          .activation = activation,
          .epsilon = epsilon};
}

HeadLayers classifier_of_pooler(const std::string& pooler, double dropout) {
  return {.dense = pooler, .output = "classifier", .activation = Activation::tanh, .dropout = dropout};
}

HeadLayers classifier_of_two_layers(Activation activation, double dropout) {
  return {.dense = "classifier.dense",
          .output = "classifier.out_proj",
          .activation = activation,
          .dropout_before = dropout,
          .dropout = dropout};
}

HeadLayers output_alone(const std::string& output, double dropout) { return {.output = output, .dropout = dropout}; }

}  // namespace attune
