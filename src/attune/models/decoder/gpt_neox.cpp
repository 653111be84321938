// GPT-NeoX and Pythia: Black et al. 2022, "GPT-NeoX-20B: an open-source autoregressive language model". Feed-forward
// network beside attention, each by its own norm; a part of each head turns; one matrix of queries, keys and values.
// Weight names as published on Hugging Face (GPTNeoXForCausalLM; the head is "embed_out" in most files).
#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"

namespace attune {

namespace {

struct NeoX {
  std::int64_t vocab_size, hidden_size, layers, heads, inner;
  Activation activation;
  double epsilon, deviation, attention_dropout, hidden_dropout;
  bool beside, attention_bias;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon); }

  static NeoX read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    NeoX n;
    n.vocab_size = c.integer_or("vocab_size", 50432, count);
    n.hidden_size = c.integer_or("hidden_size", 6144, count);
    n.layers = c.integer_or("num_hidden_layers", 44, {.at_least = 1, .at_most = 4096});
    n.heads = c.integer_or("num_attention_heads", 64, count);
    if (n.hidden_size % n.heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
    n.inner = c.integer_or("intermediate_size", 24576, count);
    n.activation = read_activation(c, "hidden_act", "gelu");
    n.epsilon = c.number_or("layer_norm_eps", 1e-5, {.at_least = 0, .at_most = 1});
    n.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    n.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    n.hidden_dropout = c.number_or("hidden_dropout", 0, {0, 1});
    n.beside = c.flag_or("use_parallel_residual", true);
    n.attention_bias = c.flag_or("attention_bias", true);
    return n;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions projection{.bias = attention_bias, .deviation = deviation}, dense{.deviation = deviation};
    const Weights attention = w / "attention", mlp = w / "mlp";
    return {.attention = {.output = Linear(attention / "dense", hidden_size, hidden_size, projection),
                          .fused = Linear(attention / "query_key_value", hidden_size, 3 * hidden_size, projection),
                          .fused_order = FusedOrder::by_key_head,
                          .sizes = sizes(),
                          .rule = {.mask = causal()},
                          .dropout = attention_dropout},
            .attention_norm = norm(w / "input_layernorm"),
            .feedforward = {.up = Linear(mlp / "dense_h_to_4h", hidden_size, inner, dense),
                            .down = Linear(mlp / "dense_4h_to_h", inner, hidden_size, dense),
                            .activation = activation},
            .feedforward_norm = norm(w / "post_attention_layernorm"),
            .order = NormOrder::pre,
            .feedforward_reads = beside ? FeedForwardInput::beside : FeedForwardInput::attended,
            .dropout = hidden_dropout,
            .place = place};
  }
};

/// rotary_pct and rotary_emb_base, which some files repeat under Llama's names.
RopeConfig read_neox_rope(const ConfigReader& c, std::int64_t head_dim) {
  RopeConfig rope = read_rope(c, head_dim, {.share = 0.25, .theta_key = "rotary_emb_base", .share_key = "rotary_pct"});
  if (c.has("rope_theta") && c.number("rope_theta") != rope.theta) c.reject("rope_theta", "rotary_emb_base is another");
  if (c.has("partial_rotary_factor") && c.has("rotary_pct") &&
      c.number("partial_rotary_factor") != c.number("rotary_pct"))
    c.reject("partial_rotary_factor", "rotary_pct is another");
  return rope;
}

DecoderSpec read_neox(const ConfigReader& c) {
  const NeoX n = NeoX::read(c);
  DecoderSpec spec{.model_type = "gpt_neox",
                   .names = {.base = "gpt_neox",
                             .words = "embed_in",
                             .norm = "final_layer_norm",
                             .tag = "classifier",
                             .unused = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"},
                             .spellings = {{NameRules::Spelling::Place::prefix, "lm_head.", "embed_out."}}},
                   .vocab_size = n.vocab_size,
                   .hidden_size = n.hidden_size,
                   .layers = n.layers,
                   .attention = n.sizes(),
                   .deviation = n.deviation,
                   .eos_token_ids = read_token_ids(c, "eos_token_id", {2}),
                   .padding_learns = true,
                   .block = [n](const Weights& w, Place place) { return n.block(w, place); },
                   .norm = [n](const Weights& w) { return n.norm(w); },
                   .rope = {read_neox_rope(c, n.sizes().head_dim)},
                   .embedding_dropout = n.hidden_dropout,
                   .tied = c.flag_or("tie_word_embeddings", false)};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  // The _prob keys stand in GPT-NeoX-20B's config, and nothing reads them.
  c.ignore(
      {"bos_token_id", "max_position_embeddings", "attention_probs_dropout_prob", "hidden_dropout_prob", "is_decoder"});
  return spec;
}

const RegisterArchitecture gpt_neox(decoder_architecture({.model_type = "gpt_neox",
                                                          .dropout_keys = {"attention_dropout", "hidden_dropout"}},
                                                         "GPTNeoX", read_neox));

}  // namespace

}  // namespace attune
