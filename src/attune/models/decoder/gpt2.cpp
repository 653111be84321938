// GPT-2: Radford et al. 2019, "Language models are unsupervised multitask learners". Pre-norm, learned positions, one
// matrix of queries, keys and values. Weight names as published on Hugging Face (GPT2Model, GPT2LMHeadModel).
#include <cmath>

#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/position/learned.h"

namespace attune {

namespace {

struct Gpt2Config {
  std::int64_t vocab_size, positions, hidden_size, layers, heads, inner_size;
  Activation activation;
  double residual_dropout, embedding_dropout, attention_dropout, epsilon, deviation;
  bool scaled, scaled_by_layer, tied;
  std::optional<std::int64_t> pad_token_id;
  std::vector<std::int64_t> eos_token_ids;

  static Gpt2Config read(const ConfigReader& c) {
    Gpt2Config g;
    g.vocab_size = c.integer_or("vocab_size", 50257, {.at_least = 1});
    g.positions = c.integer_or("n_positions", 1024, {.at_least = 1});
    g.hidden_size = c.integer_or("n_embd", 768, {.at_least = 1});
    g.layers = c.integer_or("n_layer", 12, {.at_least = 1});
    g.heads = c.integer_or("n_head", 12, {.at_least = 1});
    if (g.hidden_size % g.heads != 0) c.reject("n_head", "must divide n_embd");
    g.inner_size = c.integer_or("n_inner", 4 * g.hidden_size, {.at_least = 1});
    g.activation = read_activation(c, "activation_function", "gelu_new");
    g.residual_dropout = c.number_or("resid_pdrop", 0.1, {0, 1});
    g.embedding_dropout = c.number_or("embd_pdrop", 0.1, {0, 1});
    g.attention_dropout = c.number_or("attn_pdrop", 0.1, {0, 1});
    g.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    g.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    g.scaled = c.flag_or("scale_attn_weights", true);
    g.scaled_by_layer = c.flag_or("scale_attn_by_inverse_layer_idx", false);
    g.tied = c.flag_or("tie_word_embeddings", true);
    c.ignore({"pad_token_id"});  // it may be null
    if (c.has("pad_token_id")) g.pad_token_id = c.integer("pad_token_id");
    g.eos_token_ids = read_token_ids(c, "eos_token_id", {50256});
    if (c.flag_or("reorder_and_upcast_attn", false))
      c.reject("reorder_and_upcast_attn", "attention has one order of operations here");
    if (c.flag_or("add_cross_attention", false)) c.reject("add_cross_attention", "GPT-2 has no encoder here");
    // n_ctx, output_past and _num_labels stand in old published configs; transformers reads none of them any more.
    c.ignore({"bos_token_id", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
              "summary_first_dropout", "n_ctx", "output_past", "_num_labels"});
    return g;
  }

  double attention_scale(int layer) const {
    double scale = scaled ? 1 / std::sqrt(static_cast<double>(hidden_size / heads)) : 1;
    return scaled_by_layer ? scale / (layer + 1) : scale;
  }
};

Block gpt2_block(const Weights& w, const Gpt2Config& c, Place place) {
  LinearOptions dense{.in_by_out = true, .deviation = c.deviation}, residual = dense;
  // What is added to the residual stream begins smaller by the root of the number of additions (section 2.3).
  residual.deviation = c.deviation / std::sqrt(2.0 * static_cast<double>(c.layers));
  Weights attention = w / "attn", mlp = w / "mlp";
  return {.attention = {.output = Linear(attention / "c_proj", c.hidden_size, c.hidden_size, residual),
                        .fused = Linear(attention / "c_attn", c.hidden_size, 3 * c.hidden_size, dense),
                        .sizes = {c.heads, c.heads, c.hidden_size / c.heads},
                        .rule = {.mask = causal(), .scale = c.attention_scale(place.layer)},
                        .dropout = c.attention_dropout},
          .attention_norm = Norm::layer(w / "ln_1", c.hidden_size, c.epsilon),
          .feedforward = {.up = Linear(mlp / "c_fc", c.hidden_size, c.inner_size, dense),
                          .down = Linear(mlp / "c_proj", c.inner_size, c.hidden_size, residual),
                          .activation = c.activation},
          .feedforward_norm = Norm::layer(w / "ln_2", c.hidden_size, c.epsilon),
          .order = NormOrder::pre,
          .dropout = c.residual_dropout,
          .place = place};
}

DecoderSpec read_gpt2(const ConfigReader& config) {
  const Gpt2Config c = Gpt2Config::read(config);
  return {.model_type = "gpt2",
          .names = {.base = "transformer",
                    .words = "wte",
                    .layers = "h",
                    .norm = "ln_f",
                    .tag = "classifier",
                    .unused = {".attn.bias", ".attn.masked_bias"}},
          .vocab_size = c.vocab_size,
          .hidden_size = c.hidden_size,
          .layers = c.layers,
          .attention = {c.heads, c.heads, c.hidden_size / c.heads},
          .deviation = c.deviation,
          .longest = c.positions,
          .pad_token_id = c.pad_token_id,
          .eos_token_ids = c.eos_token_ids,
          .padding_learns = true,
          .block = [c](const Weights& w, Place place) { return gpt2_block(w, c, place); },
          .norm = [c](const Weights& w) { return Norm::layer(w, c.hidden_size, c.epsilon); },
          .positions = [c](const Weights& base) -> std::function<Tensor(const Batch&)> {
            return LearnedPositions(base / "wpe", c.positions, c.hidden_size, c.deviation);
          },
          .embedding_dropout = c.embedding_dropout,
          .tied = c.tied};
}

Architecture gpt2_architecture() {
  Architecture a = decoder_architecture(
      {.model_type = "gpt2", .dropout_keys = {"resid_pdrop", "embd_pdrop", "attn_pdrop"}}, "GPT2", read_gpt2);
  for (auto& [name, head] : a.classes)
    if (head == HeadKind::causal_lm) name = "GPT2LMHeadModel";
  return a;
}

const RegisterArchitecture gpt2(gpt2_architecture());

}  // namespace

}  // namespace attune
