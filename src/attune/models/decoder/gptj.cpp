// GPT-J: Wang & Komatsuzaki 2021, "GPT-J-6B: a 6 billion parameter autoregressive language model". Feed-forward network
// beside attention, both by one norm; the first values of each head turn in adjacent pairs. Weight names as published
// on Hugging Face (GPTJForCausalLM).
#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"

namespace attune {

namespace {

struct GptJ {
  std::int64_t vocab_size, positions, hidden_size, layers, heads, rotary_dims, inner;
  Activation activation;
  double residual_dropout, attention_dropout, epsilon, deviation;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon); }

  static GptJ read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    GptJ g;
    g.vocab_size = c.integer_or("vocab_size", 50400, count);
    g.positions = c.integer_or("n_positions", 2048, count);
    g.hidden_size = c.integer_or("n_embd", 4096, count);
    g.layers = c.integer_or("n_layer", 28, {.at_least = 1, .at_most = 4096});
    g.heads = c.integer_or("n_head", 16, count);
    if (g.hidden_size % g.heads != 0) c.reject("n_head", "must divide n_embd");
    if (c.gives_null("rotary_dim")) c.reject("rotary_dim", "expected how many values of a head turn");
    g.rotary_dims = c.integer_or("rotary_dim", 64, {.at_least = 2});
    if (g.rotary_dims % 2 != 0 || g.rotary_dims > g.hidden_size / g.heads)
      c.reject("rotary_dim", "expected an even number of a head's values, at most n_embd / n_head");
    g.inner = c.integer_or("n_inner", 4 * g.hidden_size, count);
    g.activation = read_activation(c, "activation_function", "gelu_new");
    g.residual_dropout = c.number_or("resid_pdrop", 0, {0, 1});
    g.attention_dropout = c.number_or("attn_pdrop", 0, {0, 1});
    g.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    g.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    // In the first published config: what the architecture always does.
    for (const char* key : {"rotary", "scale_attn_weights"})
      if (!c.flag_or(key, true)) c.reject(key, "GPT-J always does");
    return g;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions projection{.bias = false, .deviation = deviation}, dense{.deviation = deviation};
    const Weights attention = w / "attn", mlp = w / "mlp";
    return {.attention = {.query = Linear(attention / "q_proj", hidden_size, hidden_size, projection),
                          .key = Linear(attention / "k_proj", hidden_size, hidden_size, projection),
                          .value = Linear(attention / "v_proj", hidden_size, hidden_size, projection),
                          .output = Linear(attention / "out_proj", hidden_size, hidden_size, projection),
                          .sizes = sizes(),
                          .rule = {.mask = causal()},
                          .dropout = attention_dropout},
            .attention_norm = norm(w / "ln_1"),
            .feedforward = {.up = Linear(mlp / "fc_in", hidden_size, inner, dense),
                            .down = Linear(mlp / "fc_out", inner, hidden_size, dense),
                            .activation = activation},
            .order = NormOrder::pre,
            .feedforward_reads = FeedForwardInput::beside_same_norm,
            .dropout = residual_dropout,
            .place = place};
  }
};

DecoderSpec read_gptj(const ConfigReader& c) {
  const GptJ g = GptJ::read(c);
  DecoderSpec spec{.model_type = "gptj",
                   .names = {.base = "transformer",
                             .words = "wte",
                             .layers = "h",
                             .norm = "ln_f",
                             .unused = {".attn.bias", ".attn.masked_bias"}},
                   .vocab_size = g.vocab_size,
                   .hidden_size = g.hidden_size,
                   .layers = g.layers,
                   .attention = g.sizes(),
                   .deviation = g.deviation,
                   .longest = g.positions,
                   .eos_token_ids = read_token_ids(c, "eos_token_id", {50256}),
                   .padding_learns = true,
                   .block = [g](const Weights& w, Place place) { return g.block(w, place); },
                   .norm = [g](const Weights& w) { return g.norm(w); },
                   .rope = {{.rotary_dims = g.rotary_dims, .pairing = RotaryPairing::interleaved}},
                   .embedding_dropout = c.number_or("embd_pdrop", 0, {0, 1}),
                   .tied = c.flag_or("tie_word_embeddings", false),
                   .head = {.bias = true}};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  c.ignore({"bos_token_id", "pad_token_id", "summary_type", "summary_use_proj", "summary_activation",
            "summary_proj_to_labels", "summary_first_dropout", "n_ctx"});
  return spec;
}

const RegisterArchitecture gptj(decoder_architecture({.model_type = "gptj",
                                                      .dropout_keys = {"resid_pdrop", "embd_pdrop", "attn_pdrop"}},
                                                     "GPTJ", read_gptj));

}  // namespace

}  // namespace attune
