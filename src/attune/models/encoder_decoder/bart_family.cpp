#include "attune/models/encoder_decoder/bart_family.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/models/config_values.h"
#include "attune/nn/position/sinusoidal_positions.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};

BartFamily::StackSizes read_stack(const ConfigReader& c, const std::string& stack, const BartFamily::StackSizes& d) {
  return {.layers = c.integer_or(stack + "_layers", d.layers, {.at_least = 1, .at_most = 4096}),
          .heads = c.integer_or(stack + "_attention_heads", d.heads, count),
          .feedforward = c.integer_or(stack + "_ffn_dim", d.feedforward, count),
          .layerdrop = c.number_or(stack + "_layerdrop", d.layerdrop, {0, 1})};
}

/// What one config class could once choose and its architectures now are: a file that says otherwise is of another.
void check_layout(const ConfigReader& c, const BartFamily& family) {
  auto is = [&](const char* key, bool expected) {
    if (c.flag_or(key, expected) != expected) c.reject(key, "not the layout of this model_type");
  };
  is("normalize_before", family.order == NormOrder::pre);
  is("normalize_embedding", family.embedding_norm);
  is("add_final_layer_norm", family.final_norm);
  is("static_position_embeddings", family.position_table == BartFamily::Positions::sinusoidal);
}

MultiHead attention(const Weights& w, const BartFamily& c, std::int64_t heads, AttentionMask mask) {
  const LinearOptions dense{.deviation = c.deviation};
  return {.query = Linear(w / "q_proj", c.hidden_size, c.hidden_size, dense),
          .key = Linear(w / "k_proj", c.hidden_size, c.hidden_size, dense),
          .value = Linear(w / "v_proj", c.hidden_size, c.hidden_size, dense),
          .output = Linear(w / "out_proj", c.hidden_size, c.hidden_size, dense),
          .sizes = {heads, heads, c.hidden_size / heads},
          .rule = {.mask = mask},
          .dropout = c.attention_dropout};
}

Norm norm(const Weights& w, std::int64_t width) {
  return Norm::layer(w, width, 1e-5);  // PyTorch's default: the config has no key for it
}

using PositionsOf = std::function<std::function<Tensor(const Batch&)>(const Weights& stack)>;

PositionsOf learned_positions(const BartFamily& c) {
  constexpr std::int64_t first = 2;
  return [rows = c.positions, width = c.hidden_size, deviation = c.deviation](const Weights& stack) {
    const Embedding table(stack / "embed_positions", rows + first, width, {}, deviation);
    return [table, rows](const Batch& batch) {
      std::vector<std::int64_t> places = batch.positions.to_vector<std::int64_t>();
      for (std::int64_t& place : places) {
        check(place < rows,
              "a sequence of {} tokens is longer than the {} positions that this model learned: shorten it", place + 1,
              rows);
        place += first;
      }
      return table(Tensor::from<std::int64_t>({batch.tokens()}, places));
    };
  };
}

PositionsOf sinusoidal_positions(const BartFamily& c) {
  return [rows = c.positions, width = c.hidden_size](const Weights& stack) -> std::function<Tensor(const Batch&)> {
    const Weights w = stack / "embed_positions";
    if (w.in_file("weight")) {
      const Tensor table = w.constant("weight", {rows, width}, Initial::zeros());
      return [table](const Batch& batch) { return select_rows(table, batch.positions); };
    }
    const SinusoidalPositions made(rows, width, SinusoidalLayout::halves);
    return [made, type = w.type()](const Batch& batch) { return made(batch).to(type); };
  };
}

}  // namespace

BartFamily BartFamily::read(const ConfigReader& c, const BartFamily& defaults) {
  BartFamily b = defaults;
  check_layout(c, b);
  b.vocab_size = c.integer_or("vocab_size", b.vocab_size, count);
  b.hidden_size = c.integer_or("d_model", b.hidden_size, {.at_least = 2, .at_most = 1 << 28});
  b.positions = c.integer_or("max_position_embeddings", b.positions, count);
  b.encoder = read_stack(c, "encoder", b.encoder);
  b.decoder = read_stack(c, "decoder", b.decoder);
  for (const auto& [key, heads] :
       {std::pair{"encoder_attention_heads", b.encoder.heads}, std::pair{"decoder_attention_heads", b.decoder.heads}})
    if (b.hidden_size % heads != 0) c.reject(key, "must divide d_model");
  check_alias(c, "hidden_size", "d_model", b.hidden_size);
  check_alias(c, "num_hidden_layers", "encoder_layers", b.encoder.layers);
  check_alias(c, "num_attention_heads", "encoder_attention_heads", b.encoder.heads);
  b.activation = read_activation(c, "activation_function", std::string(name_of(b.activation)));
  b.dropout = c.number_or("dropout", b.dropout, {0, 1});
  b.attention_dropout = c.number_or("attention_dropout", b.attention_dropout, {0, 1});
  b.activation_dropout = c.number_or("activation_dropout", b.activation_dropout, {0, 1});
  b.classifier_dropout = c.number_or("classifier_dropout", b.classifier_dropout, {0, 1});
  b.deviation = c.number_or("init_std", b.deviation, {.at_least = 0, .at_most = 100});
  b.scale_embedding = c.flag_or("scale_embedding", b.scale_embedding);
  b.tied = c.flag_or("tie_word_embeddings", b.tied);
  b.pad_token_id = read_token_id(c, "pad_token_id", b.pad_token_id, b.vocab_size);
  b.decoder_start_token_id = read_token_id(c, "decoder_start_token_id", b.decoder_start_token_id, b.vocab_size);
  b.eos_token_ids = read_token_ids(c, "eos_token_id", b.eos_token_ids);
  b.labels = label_count(c);
  // Old spellings that transformers no longer reads, and what the knowledge distillers noted.
  c.ignore({"classif_dropout", "extra_pos_embeddings", "add_bias_logits", "replacing_rate", "save_step",
            "student_decoder_layers", "student_encoder_layers"});
  return b;
}

Block BartFamily::block(const Weights& w, Place place) const {
  const bool decoder_block = place.stack == Stack::decoder;
  const StackSizes& sizes = decoder_block ? decoder : encoder;
  const LinearOptions dense{.deviation = deviation};
  Block block{.attention = attention(w / "self_attn", *this, sizes.heads, decoder_block ? causal() : bidirectional()),
              .attention_norm = norm(w / "self_attn_layer_norm", hidden_size),
              .feedforward = {.up = Linear(w / "fc1", hidden_size, sizes.feedforward, dense),
                              .down = Linear(w / "fc2", sizes.feedforward, hidden_size, dense),
                              .activation = activation,
                              .dropout = activation_dropout},
              .feedforward_norm = norm(w / "final_layer_norm", hidden_size),
              .order = order,
              .dropout = dropout,
              .place = place};
  if (decoder_block) {
    block.cross = attention(w / "encoder_attn", *this, sizes.heads, bidirectional());
    block.cross_norm = norm(w / "encoder_attn_layer_norm", hidden_size);
  }
  return block;
}

EncoderDecoderSpec BartFamily::spec(const std::string& model_type) const {
  EncoderDecoderSpec spec{.model_type = model_type,
                          .names = {.unused = {"encoder.version", "decoder.version"}},
                          .vocab_size = vocab_size,
                          .hidden_size = hidden_size,
                          .layers = decoder.layers,
                          .decoder_attention = {decoder.heads, decoder.heads, hidden_size / decoder.heads},
                          .deviation = deviation,
                          .longest = positions,
                          .pad_token_id = pad_token_id,
                          .decoder_start_token_id = decoder_start_token_id,
                          .eos_token_ids = eos_token_ids,
                          .tied = tied,
                          .embedding_scale = scale_embedding ? std::sqrt(static_cast<double>(hidden_size)) : 1,
                          .blocks =
                              [b = *this](const Weights& stack, Stack which) {
                                std::vector<Block> blocks;
                                const std::int64_t layers =
                                    which == Stack::decoder ? b.decoder.layers : b.encoder.layers;
                                for (int i = 0; i < layers; ++i)
                                  blocks.push_back(b.block(stack / "layers" / i, {which, i}));
                                return blocks;
                              },
                          .encoder_layerdrop = encoder.layerdrop,
                          .decoder_layerdrop = decoder.layerdrop,
                          .dropout = dropout,
                          .heads = {.logits_bias = logits_bias,
                                    .labels = labels,
                                    .classifier_dropout = classifier_dropout,
                                    .deviation = deviation}};
  auto whole = [width = hidden_size](const Weights& w) { return norm(w, width); };
  spec.positions = position_table == Positions::learned ? learned_positions(*this) : sinusoidal_positions(*this);
  if (final_norm) spec.norm = whole;
  if (embedding_norm) spec.embedding_norm = whole;
  return spec;
}

Architecture bart_family_architecture(const std::string& model_type, const std::string& class_prefix,
                                      EncoderDecoderSpec (*read)(const ConfigReader& config)) {
  return encoder_decoder_architecture(
      {.model_type = model_type,
       .classes = {{class_prefix + "Model", HeadKind::none},
                   {class_prefix + "ForConditionalGeneration", HeadKind::sequence_to_sequence},
                   {class_prefix + "ForSequenceClassification", HeadKind::classify}},
       .dropout_keys = {"dropout", "attention_dropout", "activation_dropout", "classifier_dropout"},
       .build = {}},
      read);
}

}  // namespace attune
