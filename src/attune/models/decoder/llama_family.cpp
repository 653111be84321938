#include "attune/models/decoder/llama_family.h"

#include <fmt/format.h>

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
  const bool as_heads = a.kv_heads == 0 || c.gives_null("num_key_value_heads");
  a.kv_heads = c.integer_or("num_key_value_heads", as_heads ? a.heads : a.kv_heads, count);
  if (a.heads % a.kv_heads != 0) c.reject("num_key_value_heads", "must divide num_attention_heads");
  if (!c.has("head_dim") && a.head_dim == 0 && l.hidden_size % a.heads != 0)
    c.reject("num_attention_heads", "must divide hidden_size");
  a.head_dim = c.integer_or("head_dim", a.head_dim > 0 ? a.head_dim : l.hidden_size / a.heads, count);
  l.activation = read_activation(c, l.keys.activation, std::string(name_of(l.activation)));
  l.rope = read_rope(c, a.head_dim, l.rope_defaults);
  l.epsilon = c.number_or(l.keys.epsilon, l.epsilon, {.at_least = 0, .at_most = 1});
  l.deviation = c.number_or("initializer_range", l.deviation, {.at_least = 0, .at_most = 100});
  l.attention_dropout = c.number_or("attention_dropout", l.attention_dropout, {0, 1});
  l.tied = c.flag_or("tie_word_embeddings", l.tied);
  if (c.has("pad_token_id")) l.pad_token_id = c.integer("pad_token_id");
  l.eos_token_ids = read_token_ids(c, "eos_token_id", l.eos_token_ids);
  c.number_or("max_position_embeddings", static_cast<double>(l.rope_defaults.longest));  // scaling alone goes by it
  c.ignore({"bos_token_id", "pad_token_id", "pretraining_tp"});
  return l;
}

MultiHead LlamaFamily::attention_of(const Weights& layer, Place place) const {
  const LinearOptions projection{.bias = query_key_value_bias, .deviation = deviation};
  const Weights w = layer / "self_attn";
  AttentionRule rule{.mask = causal_within(windows.empty() ? 0 : windows.at(static_cast<std::size_t>(place.layer))),
                     .scale = score_scale};
  if (score_cap > 0) rule.scores = soft_cap(score_cap);
  return {.query = Linear(w / "q_proj", hidden_size, attention.query_width(), projection),
          .key = Linear(w / "k_proj", hidden_size, attention.kv_width(), projection),
          .value = Linear(w / "v_proj", hidden_size, attention.kv_width(), projection),
          .output =
              Linear(w / "o_proj", attention.query_width(), hidden_size, {.bias = output_bias, .deviation = deviation}),
          .sizes = attention,
          .rule = std::move(rule),
          .dropout = attention_dropout};
}

FeedForward LlamaFamily::feedforward_of(const Weights& w, std::int64_t inner, const GatedNames& names) const {
  const LinearOptions dense{.bias = mlp_bias, .deviation = deviation};
  return {.up = Linear(w / names.up, hidden_size, inner, dense),
          .down = Linear(w / names.down, inner, hidden_size, dense),
          .gate = Linear(w / names.gate, hidden_size, inner, dense),
          .activation = activation};
}

Experts LlamaFamily::experts_of(const Weights& w, const ExpertSizes& sizes) const {
  Experts experts;
  experts.router = Linear(w / "gate", hidden_size, sizes.experts, {.bias = false, .deviation = deviation});
  for (std::int64_t i = 0; i < sizes.experts; ++i)
    experts.networks.push_back(feedforward_of(w / "experts" / i, sizes.inner, sizes.names));
  experts.chosen = sizes.chosen;
  experts.weights = sizes.weights;
  return experts;
}

void LlamaFamily::add_stacked_experts(DecoderNames& names, const std::string& scope, const GatedNames& networks) {
  const std::string experts = scope + ".experts", both = "mlp.experts.gate_up_proj", down = "mlp.experts.down_proj";
  const auto weight = [](const char* name) { return std::string(name) + ".weight"; };
  names.stacked.push_back({experts, weight(networks.gate), both, 0, 2});
  names.stacked.push_back({experts, weight(networks.up), both, 1, 2});
  names.stacked.push_back({experts, weight(networks.down), down, 0, 1});
  const std::string router = scope + ".gate.weight";
  if (scope != "mlp") names.spellings.push_back({NameRules::Spelling::Place::suffix, router, "mlp.gate.weight"});
}

Norm LlamaFamily::norm(const Weights& w, std::int64_t width) const {
  return norm_of ? norm_of(w, width, epsilon) : Norm::rms(w, width, epsilon);
}

Block LlamaFamily::block(const Weights& w, Place place) const {
  return {.attention = attention_of(w, place),
          .attention_norm = norm(w / "input_layernorm"),
          .feedforward = feedforward_of(w / "mlp", intermediate_size),
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

std::vector<std::int64_t> read_windows(const ConfigReader& c, std::int64_t layers, std::int64_t window,
                                       const std::function<bool(std::int64_t)>& slides) {
  const std::vector<std::string> types = c.strings_or("layer_types", {});
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != layers)
    c.reject("layer_types", fmt::format("expected one for each of the {} layers", layers));
  std::vector<std::int64_t> windows;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string type =
        types.empty() ? (slides(i) ? "sliding_attention" : "full_attention") : types[static_cast<std::size_t>(i)];
    if (type != "sliding_attention" && type != "full_attention")
      c.reject("layer_types", "expected \"full_attention\" or \"sliding_attention\"");
    if (type == "sliding_attention" && window <= 0)
      c.reject("layer_types", "a layer has \"sliding_attention\", and no sliding_window is used");
    windows.push_back(type == "sliding_attention" ? window : 0);
  }
  return windows;
}

std::int64_t read_window(const ConfigReader& c, std::int64_t otherwise) {
  constexpr ConfigRange tokens{.at_least = 1, .at_most = 1 << 30};
  return c.integer_or("sliding_window", c.gives_null("sliding_window") ? 0 : otherwise, tokens);
}

std::vector<std::int64_t> read_qwen_windows(const ConfigReader& c, std::int64_t layers,
                                            const std::function<bool(std::int64_t)>& slides) {
  const bool used = c.flag_or("use_sliding_window", false);
  std::int64_t window = 0;
  if (used)
    window = read_window(c, 4096);
  else
    c.ignore({"sliding_window"});
  return read_windows(c, layers, window, [&](std::int64_t i) { return used && slides(i); });
}

double read_router_loss(const ConfigReader& c) {
  const double coefficient = c.number_or("router_aux_loss_coef", 0.001, {.at_least = 0});
  return c.flag_or("output_router_logits", false) ? coefficient : 0;
}

}  // namespace attune
