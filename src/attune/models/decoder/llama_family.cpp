#include "attune/models/decoder/llama_family.h"

#include "attune/models/config_values.h"

namespace attune {

LlamaFamily LlamaFamily::read(const ConfigReader& c, const LlamaFamily& defaults) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
  LlamaFamily l = defaults;
  l.vocab_size = c.integer_or("vocab_size", l.vocab_size, count);
  l.hidden_size = c.integer_or("hidden_size", l.hidden_size, count);
  l.intermediate_size = c.integer_or("intermediate_size", l.intermediate_size, count);
  l.layers = c.integer_or("num_hidden_layers", l.layers, {.at_least = 1, .at_most = 4096});
  AttentionSizes& a = l.attention;
  a.heads = c.integer_or("num_attention_heads", a.heads, count);
  a.kv_heads = c.integer_or("num_key_value_heads", a.kv_heads > 0 ? a.kv_heads : a.heads, count);
  if (a.heads % a.kv_heads != 0) c.reject("num_key_value_heads", "must divide num_attention_heads");
  if (!c.has("head_dim") && a.head_dim == 0 && l.hidden_size % a.heads != 0)
    c.reject("num_attention_heads", "must divide hidden_size");
  a.head_dim = c.integer_or("head_dim", a.head_dim > 0 ? a.head_dim : l.hidden_size / a.heads, count);
  l.activation = read_activation(c, "hidden_act", std::string(name_of(l.activation)));
  l.rope = read_rope(c, a.head_dim, l.longest);
  l.epsilon = c.number_or("rms_norm_eps", l.epsilon, {.at_least = 0, .at_most = 1});
  l.deviation = c.number_or("initializer_range", l.deviation, {.at_least = 0, .at_most = 100});
  l.attention_dropout = c.number_or("attention_dropout", l.attention_dropout, {0, 1});
  l.tied = c.flag_or("tie_word_embeddings", l.tied);
  if (c.has("pad_token_id")) l.pad_token_id = c.integer("pad_token_id");
  l.eos_token_ids = read_token_ids(c, "eos_token_id", l.eos_token_ids);
  c.ignore({"bos_token_id", "pad_token_id", "max_position_embeddings", "pretraining_tp"});
  return l;
}

Block LlamaFamily::block(const Weights& w, Place place) const {
  const LinearOptions projection{.bias = query_key_value_bias, .deviation = deviation};
  const LinearOptions dense{.bias = mlp_bias, .deviation = deviation};
  const Weights self = w / "self_attn", mlp = w / "mlp";
  return {.attention = {.query = Linear(self / "q_proj", hidden_size, attention.query_width(), projection),
                        .key = Linear(self / "k_proj", hidden_size, attention.kv_width(), projection),
                        .value = Linear(self / "v_proj", hidden_size, attention.kv_width(), projection),
                        .output = Linear(self / "o_proj", attention.query_width(), hidden_size,
                                         {.bias = output_bias, .deviation = deviation}),
                        .sizes = attention,
                        .rule = {.mask = causal()},
                        .dropout = attention_dropout},
          .attention_norm = norm(w / "input_layernorm"),
          .feedforward = {.up = Linear(mlp / "up_proj", hidden_size, intermediate_size, dense),
                          .down = Linear(mlp / "down_proj", intermediate_size, hidden_size, dense),
                          .gate = Linear(mlp / "gate_proj", hidden_size, intermediate_size, dense),
                          .activation = activation},
          .feedforward_norm = norm(w / "post_attention_layernorm"),
          .order = NormOrder::pre,
          .place = place};
}

DecoderSpec LlamaFamily::spec(const std::string& model_type) const {
  return {.model_type = model_type,
          .names = {.unused = {"rotary_emb.inv_freq"}},
          .vocab_size = vocab_size,
          .hidden_size = hidden_size,
          .layers = layers,
          .attention = attention,
          .deviation = deviation,
          .pad_token_id = pad_token_id,
          .eos_token_ids = eos_token_ids,
          .block = [l = *this](const Weights& w, Place place) { return l.block(w, place); },
          .norm = [l = *this](const Weights& w) { return l.norm(w); },
          .rope = {rope},
          .tied = tied};
}

}  // namespace attune
