// BLOOM: BigScience Workshop 2022, "BLOOM: a 176B-parameter open-access multilingual language model". ALiBi, a norm of
// the embeddings, one matrix of queries, keys and values. Weight names as published on Hugging Face (BloomForCausalLM).
#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/position/alibi.h"

namespace attune {

namespace {

struct Bloom {
  std::int64_t vocab_size, hidden_size, layers, heads;
  double epsilon, deviation, hidden_dropout, attention_dropout;
  bool adds_to_normed;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon); }

  static Bloom read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    Bloom b;
    b.vocab_size = c.integer_or("vocab_size", 250880, count);
    b.hidden_size = c.integer_or(c.has("n_embed") ? "n_embed" : "hidden_size", 64, count);
    b.layers = c.integer_or(c.has("n_layer") ? "n_layer" : "num_hidden_layers", 2, {.at_least = 1, .at_most = 4096});
    b.heads = c.integer_or(c.has("n_head") ? "n_head" : "num_attention_heads", 8, count);
    if (b.hidden_size % b.heads != 0) c.reject("n_head", "must divide hidden_size");
    b.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    b.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    b.hidden_dropout = c.number_or("hidden_dropout", 0, {0, 1});
    b.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    b.adds_to_normed = c.flag_or("apply_residual_connection_post_layernorm", false);
    // pretraining_tp and slow_but_exact say in which order a row of numbers is added up; the others are of the program
    // that trained it. n_embed, n_layer, n_head have younger names beside them.
    c.ignore({"hidden_size", "num_hidden_layers", "num_attention_heads", "pretraining_tp", "slow_but_exact",
              "attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion", "offset_alibi", "seq_length",
              "skip_bias_add", "skip_bias_add_qkv", "n_inner", "unk_token_id", "bos_token_id"});
    return b;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.deviation = deviation};
    const Weights self = w / "self_attention", mlp = w / "mlp";
    return {.attention = {.output = Linear(self / "dense", hidden_size, hidden_size, dense),
                          .fused = Linear(self / "query_key_value", hidden_size, 3 * hidden_size, dense),
                          .fused_order = FusedOrder::by_key_head,
                          .sizes = sizes(),
                          .rule = causal() + alibi(alibi_slopes(heads)),
                          .dropout = attention_dropout},
            .attention_norm = norm(w / "input_layernorm"),
            .feedforward = {.up = Linear(mlp / "dense_h_to_4h", hidden_size, 4 * hidden_size, dense),
                            .down = Linear(mlp / "dense_4h_to_h", 4 * hidden_size, hidden_size, dense),
                            .activation = Activation::gelu_tanh},
            .feedforward_norm = norm(w / "post_attention_layernorm"),
            .order = NormOrder::pre,
            .adds_to_normed = adds_to_normed,
            .dropout = hidden_dropout,
            .place = place};
  }
};

DecoderSpec read_bloom(const ConfigReader& c) {
  const Bloom b = Bloom::read(c);
  DecoderSpec spec{.model_type = "bloom",
                   .names = {.base = "transformer",
                             .words = "word_embeddings",
                             .layers = "h",
                             .norm = "ln_f",
                             .embedding_norm = "word_embeddings_layernorm",
                             .tag = "classifier"},
                   .vocab_size = b.vocab_size,
                   .hidden_size = b.hidden_size,
                   .layers = b.layers,
                   .attention = b.sizes(),
                   .deviation = b.deviation,
                   .eos_token_ids = read_token_ids(c, "eos_token_id", {2}),
                   .padding_learns = true,
                   .block = [b](const Weights& w, Place place) { return b.block(w, place); },
                   .norm = [b](const Weights& w) { return b.norm(w); },
                   .embedding_norm = [b](const Weights& w) { return b.norm(w); },
                   .tied = c.flag_or("tie_word_embeddings", true)};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  return spec;
}

const RegisterArchitecture bloom(decoder_architecture({.model_type = "bloom",
                                                       .dropout_keys = {"attention_dropout", "hidden_dropout"}},
                                                      "Bloom", read_bloom));

}  // namespace

}  // namespace attune
