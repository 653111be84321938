// Falcon: Almazrouei et al. 2023, "The Falcon series of open language models". Feed-forward network beside attention,
// one key head for all queries (7B) or groups of them (40B, "new decoder architecture"); the RW models have ALiBi, and
// one sublayer behind the other. Weight names as published on Hugging Face (FalconForCausalLM).
#include <cmath>

#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/position/alibi.h"

namespace attune {

namespace {

std::vector<float> rounded_to_bf16(const std::vector<double>& values) {
  const Tensor exact = Tensor::from<double>({static_cast<std::int64_t>(values.size())}, values);
  return exact.to(DType::F32).to(DType::BF16).to(DType::F32).to_vector<float>();
}

/// transformers' ALiBi of this model, on its SDPA path (its eager attention adds it twice): slope * position of the
/// key, slope, position and product each rounded to bfloat16, divided by sqrt(head_dim). Other than a distance's, such
/// numbers depend on where in the text a key stands.
ScoreChanges falcon_alibi(const AttentionSizes& sizes) {
  return {.additions = {[heads = sizes.heads, root = std::sqrt(static_cast<float>(sizes.head_dim)),
                         slopes = rounded_to_bf16(alibi_slopes(sizes.heads))](const ScoreSetting& s) -> ScoreAddition {
            std::vector<double> places(static_cast<std::size_t>(s.keys));
            for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
            const std::vector<float> positions = rounded_to_bf16(places);
            std::vector<double> products;  // [heads, keys]
            for (float slope : slopes)
              for (float position : positions) products.push_back(static_cast<double>(slope * position));
            std::vector<float> values = rounded_to_bf16(products);
            for (float& value : values) value /= root;
            return {.kind = kernels::ScoreTermKind::pair,
                    .values = Tensor::from<float>({heads, 1, s.keys}, values).to(s.q.dtype()),
                    .every_query = true};
          }}};
}

struct Falcon {
  std::int64_t vocab_size, hidden_size, layers, inner;
  AttentionSizes attention;
  Activation activation;
  double epsilon, deviation, hidden_dropout, attention_dropout;
  bool alibi, grouped, beside, bias, two_norms;

  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon); }

  static Falcon read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    Falcon f;
    f.vocab_size = c.integer_or("vocab_size", 65024, count);
    f.hidden_size = c.integer_or(c.has("n_embed") ? "n_embed" : "hidden_size", 4544, count);
    f.layers = c.integer_or("num_hidden_layers", 32, {.at_least = 1, .at_most = 4096});
    const std::int64_t heads = c.integer_or("num_attention_heads", 71, count);
    if (f.hidden_size % heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
    f.grouped = c.flag_or("new_decoder_architecture", false);
    const bool multi_query = c.flag_or("multi_query", true);
    const std::int64_t groups = c.integer_or("num_kv_heads", heads, count);  // of meaning in the new architecture alone
    if (f.grouped && heads % groups != 0) c.reject("num_kv_heads", "must divide num_attention_heads");
    f.attention = {heads, f.grouped ? groups : multi_query ? 1 : heads, f.hidden_size / heads};
    f.beside = c.flag_or("parallel_attn", true);
    if (f.grouped && !f.beside) c.reject("parallel_attn", "the new decoder architecture has no other");
    const std::int64_t norms =
        c.integer_or("num_ln_in_parallel_attn", f.grouped ? 2 : 1, {.at_least = 1, .at_most = 2});
    f.two_norms = norms == 2;
    if (f.two_norms && !f.grouped) c.reject("num_ln_in_parallel_attn", "the new decoder architecture alone has two");
    f.inner = c.integer_or("ffn_hidden_size", 4 * f.hidden_size, count);
    f.activation = read_activation(c, "activation", "gelu");
    f.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    f.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    f.hidden_dropout = c.number_or("hidden_dropout", 0, {0, 1});
    f.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    f.alibi = c.flag_or("alibi", false);
    f.bias = c.flag_or("bias", false);
    if (c.flag_or("apply_residual_connection_post_layernorm", false))
      c.reject("apply_residual_connection_post_layernorm", "transformers does not read it: expected false");
    return f;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.bias = bias, .deviation = deviation};
    const Weights self = w / "self_attention", mlp = w / "mlp";
    AttentionRule rule{.mask = causal()};
    if (alibi) rule.scores = falcon_alibi(attention);
    const std::int64_t fused = attention.query_width() + 2 * attention.kv_width();
    Block block{.attention = {.output = Linear(self / "dense", hidden_size, hidden_size, dense),
                              .fused = Linear(self / "query_key_value", hidden_size, fused, dense),
                              .fused_order = FusedOrder::by_key_head,
                              .sizes = attention,
                              .rule = std::move(rule),
                              .dropout = alibi ? attention_dropout : 0},  // with rotary positions transformers has none
                .attention_norm = norm(w / (two_norms ? "ln_attn" : "input_layernorm")),
                .feedforward = {.up = Linear(mlp / "dense_h_to_4h", hidden_size, inner, dense),
                                .down = Linear(mlp / "dense_4h_to_h", inner, hidden_size, dense),
                                .activation = activation},
                .order = NormOrder::pre,
                .dropout = hidden_dropout,
                .place = place};
    if (!beside) {
      block.feedforward_norm = norm(w / "post_attention_layernorm");
      block.dropout = attention_dropout, block.feedforward_dropout = hidden_dropout;
    } else {
      block.feedforward_reads = two_norms ? FeedForwardInput::beside : FeedForwardInput::beside_same_norm;
      if (two_norms) block.feedforward_norm = norm(w / "ln_mlp");
    }
    return block;
  }
};

DecoderSpec read_falcon(const ConfigReader& c) {
  const Falcon f = Falcon::read(c);
  DecoderSpec spec{.model_type = "falcon",
                   .names = {.base = "transformer",
                             .words = "word_embeddings",
                             .layers = "h",
                             .norm = "ln_f",
                             .tag = "classifier",
                             .unused = {".rotary_emb.inv_freq", ".maybe_rotary.inv_freq"}},
                   .vocab_size = f.vocab_size,
                   .hidden_size = f.hidden_size,
                   .layers = f.layers,
                   .attention = f.attention,
                   .deviation = f.deviation,
                   .eos_token_ids = read_token_ids(c, "eos_token_id", {11}),
                   .padding_learns = true,
                   .block = [f](const Weights& w, Place place) { return f.block(w, place); },
                   .norm = [f](const Weights& w) { return f.norm(w); },
                   .tied = c.flag_or("tie_word_embeddings", true)};
  const RopeConfig rope = read_rope(c, f.attention.head_dim);
  if (!f.alibi) spec.rope = {rope};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  // n_embed is hidden_size's older name, which wins; ff_factor stands beside ffn_hidden_size.
  c.ignore({"bos_token_id", "pad_token_id", "max_position_embeddings", "hidden_size", "ff_factor"});
  return spec;
}

const RegisterArchitecture falcon(decoder_architecture({.model_type = "falcon",
                                                        .dropout_keys = {"attention_dropout", "hidden_dropout"}},
                                                       "Falcon", read_falcon));

}  // namespace

}  // namespace attune
