// GPT-Neo: Black et al. 2021, "GPT-Neo: large scale autoregressive language modeling with Mesh-Tensorflow". GPT-2 with
// windows on some layers and scores that are not scaled. Weight names as published on Hugging Face (GPTNeoForCausalLM).
#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/position/learned.h"

namespace attune {

namespace {

/// "attention_types": [[["global", "local"], 12]] says twelve times both; "attention_layers" names each.
std::vector<std::int64_t> read_neo_windows(const ConfigReader& c, std::int64_t layers, std::int64_t window) {
  std::vector<std::string> kinds;
  const Json& types = c.raw("attention_types");
  for (const Json& group : types.is_null() ? Json::parse(R"([[["global", "local"], 12]])") : types) {
    if (!group.is_array() || group.size() != 2 || !group[0].is_array() || !group[1].is_number_unsigned() ||
        group[1] > 4096)
      c.reject("attention_types", "expected [[[kind, kind...], how often], ...]");
    for (std::size_t i = 0; i < group[1].get<std::size_t>(); ++i)
      for (const Json& kind : group[0]) {
        if (!kind.is_string()) c.reject("attention_types", "a kind is \"global\" or \"local\"");
        kinds.push_back(kind.get<std::string>());
        if (static_cast<std::int64_t>(kinds.size()) > layers)
          c.reject("attention_types", fmt::format("names more than the {} layers", layers));
      }
  }
  const std::vector<std::string> listed = c.strings_or("attention_layers", {});
  if (!listed.empty() && !types.is_null() && listed != kinds)
    c.reject("attention_layers", "attention_types says another: give one of them");
  if (types.is_null() && !listed.empty()) kinds = listed;
  const char* key = types.is_null() && !listed.empty() ? "attention_layers" : "attention_types";
  if (static_cast<std::int64_t>(kinds.size()) != layers)
    c.reject(key, fmt::format("expected one kind for each of the {} layers, not {}", layers, kinds.size()));
  std::vector<std::int64_t> windows;
  for (const std::string& kind : kinds) {
    if (kind != "global" && kind != "local") c.reject(key, "a kind is \"global\" or \"local\"");
    windows.push_back(kind == "local" ? window : 0);
  }
  return windows;
}

struct GptNeo {
  std::int64_t vocab_size, positions, hidden_size, layers, heads, inner;
  Activation activation;
  double residual_dropout, attention_dropout, epsilon, deviation;
  std::vector<std::int64_t> windows;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon); }

  static GptNeo read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    GptNeo g;
    g.vocab_size = c.integer_or("vocab_size", 50257, count);
    g.positions = c.integer_or("max_position_embeddings", 2048, count);
    g.hidden_size = c.integer_or("hidden_size", 2048, count);
    g.layers = c.integer_or("num_layers", 24, {.at_least = 1, .at_most = 4096});
    g.heads = c.integer_or("num_heads", 16, count);
    if (g.hidden_size % g.heads != 0) c.reject("num_heads", "must divide hidden_size");
    g.inner = c.integer_or("intermediate_size", 4 * g.hidden_size, count);
    g.activation = read_activation(c, "activation_function", "gelu_new");
    g.residual_dropout = c.number_or("resid_dropout", 0, {0, 1});
    g.attention_dropout = c.number_or("attention_dropout", 0, {0, 1});
    g.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    g.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    g.windows = read_neo_windows(c, g.layers, c.integer_or("window_size", 256, count));
    return g;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions projection{.bias = false, .deviation = deviation}, dense{.deviation = deviation};
    const Weights attention = w / "attn" / "attention", mlp = w / "mlp";
    return {
        .attention = {.query = Linear(attention / "q_proj", hidden_size, hidden_size, projection),
                      .key = Linear(attention / "k_proj", hidden_size, hidden_size, projection),
                      .value = Linear(attention / "v_proj", hidden_size, hidden_size, projection),
                      .output = Linear(attention / "out_proj", hidden_size, hidden_size, dense),
                      .sizes = sizes(),
                      .rule = {.mask = causal_within(windows.at(static_cast<std::size_t>(place.layer))), .scale = 1},
                      .dropout = attention_dropout},
        .attention_norm = norm(w / "ln_1"),
        .feedforward = {.up = Linear(mlp / "c_fc", hidden_size, inner, dense),
                        .down = Linear(mlp / "c_proj", inner, hidden_size, dense),
                        .activation = activation},
        .feedforward_norm = norm(w / "ln_2"),
        .order = NormOrder::pre,
        .dropout = residual_dropout,
        .place = place};
  }
};

DecoderSpec read_gpt_neo(const ConfigReader& c) {
  const GptNeo g = GptNeo::read(c);
  DecoderSpec spec{.model_type = "gpt_neo",
                   .names = {.base = "transformer",
                             .words = "wte",
                             .layers = "h",
                             .norm = "ln_f",
                             .tag = "classifier",
                             .unused = {".attention.bias", ".attention.masked_bias"}},
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
                   .positions = [g](const Weights& base) -> std::function<Tensor(const Batch&)> {
                     return LearnedPositions(base / "wpe", g.positions, g.hidden_size, g.deviation);
                   },
                   .embedding_dropout = c.number_or("embed_dropout", 0, {0, 1}),
                   .tied = c.flag_or("tie_word_embeddings", true)};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  // summary_* is of a head that transformers has not.
  c.ignore({"bos_token_id", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
            "summary_first_dropout", "n_ctx"});
  return spec;
}

const RegisterArchitecture gpt_neo(decoder_architecture(
    {.model_type = "gpt_neo", .dropout_keys = {"resid_dropout", "embed_dropout", "attention_dropout"}}, "GPTNeo",
    read_gpt_neo));

}  // namespace

}  // namespace attune
