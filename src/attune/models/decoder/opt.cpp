// OPT: Zhang et al. 2022, "OPT: open pre-trained transformer language models". Learned positions whose table begins
// with two rows that are never used; the 350M model has its norms behind the sublayers and narrower words. Weight names
// as published on Hugging Face (OPTForCausalLM).
#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/position/learned.h"

namespace attune {

namespace {

struct Opt {
  std::int64_t vocab_size, words_size, positions, hidden_size, layers, heads, inner;
  Activation activation;
  double dropout, attention_dropout, deviation;
  bool norm_before, norm_weights, bias, final_norm;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const {
    constexpr double epsilon = 1e-5;  // PyTorch's: the config has none
    return norm_weights ? Norm::layer(w, hidden_size, epsilon)
                        : Norm::layer_without_weights(hidden_size, epsilon, w.type());
  }

  static Opt read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    Opt o;
    o.vocab_size = c.integer_or("vocab_size", 50272, count);
    o.hidden_size = c.integer_or("hidden_size", 768, count);
    o.words_size = c.integer_or("word_embed_proj_dim", o.hidden_size, count);
    o.positions = c.integer_or("max_position_embeddings", 2048, count);
    o.layers = c.integer_or("num_hidden_layers", 12, {.at_least = 1, .at_most = 4096});
    o.heads = c.integer_or("num_attention_heads", 12, count);
    if (o.hidden_size % o.heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
    o.inner = c.integer_or("ffn_dim", 3072, count);
    o.activation = read_activation(c, "activation_function", "relu");
    o.dropout = c.number_or("dropout", 0.1, {0, 1});
    o.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    o.deviation = c.number_or("init_std", 0.02, {.at_least = 0, .at_most = 100});
    o.norm_before = c.flag_or("do_layer_norm_before", true);
    o.norm_weights = c.flag_or("layer_norm_elementwise_affine", true);
    o.bias = c.flag_or("enable_bias", true);
    const bool removed = c.flag_or("_remove_final_layer_norm", false);
    o.final_norm = o.norm_before && !removed;
    for (const char* key : {"layerdrop", "activation_dropout"})
      if (c.number_or(key, 0) != 0) c.reject(key, "expected 0: it is not trained with here");
    return o;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.bias = bias, .deviation = deviation};
    const Weights self = w / "self_attn";
    return {.attention = {.query = Linear(self / "q_proj", hidden_size, hidden_size, dense),
                          .key = Linear(self / "k_proj", hidden_size, hidden_size, dense),
                          .value = Linear(self / "v_proj", hidden_size, hidden_size, dense),
                          .output = Linear(self / "out_proj", hidden_size, hidden_size, dense),
                          .sizes = sizes(),
                          .rule = {.mask = causal()},
                          .dropout = attention_dropout},
            .attention_norm = norm(w / "self_attn_layer_norm"),
            .feedforward = {.up = Linear(w / "fc1", hidden_size, inner, dense),
                            .down = Linear(w / "fc2", inner, hidden_size, dense),
                            .activation = activation},
            .feedforward_norm = norm(w / "final_layer_norm"),
            .order = norm_before ? NormOrder::pre : NormOrder::post,
            .dropout = dropout,
            .place = place};
  }
};

DecoderSpec read_opt(const ConfigReader& c) {
  const Opt o = Opt::read(c);
  DecoderSpec spec{.model_type = "opt",
                   .names = {.base = "model.decoder",
                             .norm = "final_layer_norm",
                             .spellings = {{NameRules::Spelling::Place::prefix, "model.decoder.", "decoder."}}},
                   .vocab_size = o.vocab_size,
                   .hidden_size = o.hidden_size,
                   .layers = o.layers,
                   .attention = o.sizes(),
                   .deviation = o.deviation,
                   .longest = o.positions,
                   .pad_token_id = 1,
                   .eos_token_ids = read_token_ids(c, "eos_token_id", {2}),
                   .block = [o](const Weights& w, Place place) { return o.block(w, place); },
                   .positions = [o](const Weights& base) -> std::function<Tensor(const Batch&)> {
                     return LearnedPositions(base / "embed_positions", o.positions, o.hidden_size, o.deviation, 2);
                   },
                   .embedding_size = o.words_size,
                   .tied = c.flag_or("tie_word_embeddings", true)};
  if (o.final_norm) spec.norm = [o](const Weights& w) { return o.norm(w); };
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  if (c.gives_null("pad_token_id")) spec.pad_token_id = std::nullopt;
  c.ignore({"bos_token_id", "pad_token_id", "prefix"});
  return spec;
}

const RegisterArchitecture opt(
    decoder_architecture({.model_type = "opt", .dropout_keys = {"dropout", "attention_dropout"}}, "OPT", read_opt));

}  // namespace

}  // namespace attune
