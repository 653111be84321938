// ModernBERT: Warner et al. 2024, "Smarter, better, faster, longer: a modern bidirectional encoder". Pre-norm, rotary
// positions with two bases, windows in all but every third layer, gated feed-forwards with one matrix for gate and
// value. Weight names as published on Hugging Face. local_attention is the whole window: a token sees half of it to
// each side. The first block has no norm of its own before attention: the embeddings' stands there.
#include <cmath>
#include "attune/base/json_values.h"

#include "attune/models/config_values.h"
#include "attune/models/encoder/encoder_model.h"

namespace attune {

namespace {

struct ModernBertConfig {
  std::int64_t vocab_size, hidden_size, intermediate_size, layers, heads, longest, window, pad_token_id;
  Activation activation, classifier_activation;
  double deviation, epsilon, attention_dropout, embedding_dropout, mlp_dropout, classifier_dropout;
  bool norm_bias, attention_bias, mlp_bias, decoder_bias, classifier_bias, tied;
  Pooling pooling;
  std::vector<std::string> kinds;  // of layers
  RopeConfig everywhere, nearby;

  static ModernBertConfig read(const ConfigReader& c);
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon, norm_bias); }
  Block block(const Weights& w, Place place) const;
  HeadLayers head(const std::string& output) const;
};

std::vector<std::string> read_kinds(const ConfigReader& c, std::int64_t layers) {
  const std::int64_t every = c.integer_or("global_attn_every_n_layers", 3, {.at_least = 1, .at_most = 1 << 20});
  std::vector<std::string> kinds = c.strings_or("layer_types", {});
  if (kinds.empty())
    for (std::int64_t i = 0; i < layers; ++i) kinds.push_back(i % every == 0 ? "full_attention" : "sliding_attention");
  if (static_cast<std::int64_t>(kinds.size()) != layers) c.reject("layer_types", "expected one for each layer");
  for (const std::string& kind : kinds)
    if (kind != "full_attention" && kind != "sliding_attention")
      c.reject("layer_types", "expected \"full_attention\" or \"sliding_attention\"");
  return kinds;
}

/// rope_parameters holds an object for each kind of layer; older configs have a base for each, and one rope_scaling for
/// both.
RopeConfig read_rope_of(const ConfigReader& c, const char* kind, const char* older, double theta) {
  const double base = c.number_or(older, theta, {.at_least = 1e-6});
  Json values = Json::object();
  if (c.has("rope_parameters") && c.raw("rope_parameters").is_object() && c.raw("rope_parameters").contains(kind))
    values = c.raw("rope_parameters")[kind];
  if (values.is_null()) values = Json::object();
  if (!values.is_object()) c.reject("rope_parameters", std::string("expected an object for ") + kind);
  if (c.has("rope_scaling") && c.raw("rope_scaling").is_object()) values.update(c.raw("rope_scaling"));
  if (!values.contains("rope_theta")) values["rope_theta"] = base;
  Json around = {{"rope_parameters", values}};
  around["max_position_embeddings"] = c.integer_or("max_position_embeddings", 8192, {.at_least = 1});
  const ConfigReader own(around, c.source() + ": rope_parameters of " + kind);
  own.ignore({"max_position_embeddings"});
  const std::int64_t head_dim = c.integer_or("hidden_size", 768) / c.integer_or("num_attention_heads", 12);
  RopeConfig rope = read_rope(own, head_dim);
  own.finish();
  return rope;
}

ModernBertConfig ModernBertConfig::read(const ConfigReader& c) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28}, rate{0, 1};
  ModernBertConfig m;
  m.vocab_size = c.integer_or("vocab_size", 50368, count);
  m.hidden_size = c.integer_or("hidden_size", 768, count);
  m.intermediate_size = c.integer_or("intermediate_size", 1152, count);
  m.layers = c.integer_or("num_hidden_layers", 22, {.at_least = 1, .at_most = 4096});
  m.heads = c.integer_or("num_attention_heads", 12, count);
  if (m.hidden_size % m.heads != 0) c.reject("num_attention_heads", "must divide hidden_size");
  m.longest = c.integer_or("max_position_embeddings", 8192, count);
  m.window = c.integer_or("local_attention", 128, {.at_least = 0, .at_most = 1 << 30}) / 2;
  m.pad_token_id = c.integer_or("pad_token_id", 50283, {.at_least = 0});
  m.activation = read_activation(c, "hidden_activation", "gelu");
  m.classifier_activation = read_activation(c, "classifier_activation", "gelu");
  m.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
  m.epsilon = c.number_or("norm_eps", 1e-5, {.at_least = 0, .at_most = 1});
  m.attention_dropout = c.number_or("attention_dropout", 0, rate);
  m.embedding_dropout = c.number_or("embedding_dropout", 0, rate);
  m.mlp_dropout = c.number_or("mlp_dropout", 0, rate);
  m.classifier_dropout = c.number_or("classifier_dropout", 0, rate);
  m.norm_bias = c.flag_or("norm_bias", false);
  m.attention_bias = c.flag_or("attention_bias", false);
  m.mlp_bias = c.flag_or("mlp_bias", false);
  m.decoder_bias = c.flag_or("decoder_bias", true);
  m.classifier_bias = c.flag_or("classifier_bias", false);
  m.tied = c.flag_or("tie_word_embeddings", true);
  m.pooling =
      c.choice_or("classifier_pooling", "cls", {"cls", "mean"}) == "mean" ? Pooling::mean : Pooling::first_token;
  m.kinds = read_kinds(c, m.layers);
  m.everywhere = read_rope_of(c, "full_attention", "global_rope_theta", 160000);
  m.nearby = read_rope_of(c, "sliding_attention", "local_rope_theta", 10000);
  // How kernels ran, how a new model begins, what a loss over all positions leaves out anyway, and copies of BERT's
  // keys that no code reads.
  c.ignore({"deterministic_flash_attn", "reference_compile", "repad_logits_with_grad", "sparse_prediction",
            "sparse_pred_ignore_index", "initializer_cutoff_factor", "layer_norm_eps", "position_embedding_type",
            "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "rope_parameters", "rope_scaling"});
  return m;
}

Block ModernBertConfig::block(const Weights& w, Place place) const {
  // What is added to the residual stream begins smaller by the root of the number of additions.
  const double residual = deviation / std::sqrt(2.0 * static_cast<double>(layers));
  const bool nearby_alone = kinds[static_cast<std::size_t>(place.layer)] == "sliding_attention";
  const Weights attn = w / "attn", mlp = w / "mlp";
  return {.attention = {.output = Linear(attn / "Wo", hidden_size, hidden_size,
                                         {.bias = attention_bias, .deviation = residual}),
                        .fused = Linear(attn / "Wqkv", hidden_size, 3 * hidden_size,
                                        {.bias = attention_bias, .deviation = deviation}),
                        .rotary = nearby_alone ? 1 : 0,
                        .sizes = {heads, heads, hidden_size / heads},
                        .rule = {.mask = nearby_alone ? attune::window(window, window) : bidirectional()},
                        .dropout = attention_dropout},
          .attention_norm = place.layer == 0 ? Norm() : norm(w / "attn_norm"),
          .feedforward = {.down = Linear(mlp / "Wo", intermediate_size, hidden_size,
                                         {.bias = mlp_bias, .deviation = residual}),
                          .gate_and_up = Linear(mlp / "Wi", hidden_size, 2 * intermediate_size,
                                                {.bias = mlp_bias, .deviation = deviation}),
                          .activation = activation,
                          .dropout = mlp_dropout},
          .feedforward_norm = norm(w / "mlp_norm"),
          .order = NormOrder::pre,
          .dropout = attention_dropout,
          .feedforward_dropout = 0,
          .place = place};
}

HeadLayers ModernBertConfig::head(const std::string& output) const {
  return {.dense = "head.dense",
          .norm = "head.norm",
          .output = output,
          .activation = classifier_activation,
          .dense_bias = classifier_bias,
          .norm_bias = norm_bias,
          .epsilon = epsilon,
          .dropout = classifier_dropout,
          .pooling = pooling};
}

EncoderSpec read_modernbert(const ConfigReader& c) {
  const ModernBertConfig m = ModernBertConfig::read(c);
  HeadLayers masked = m.head("decoder");
  masked.dropout = 0;
  if (m.decoder_bias) masked.tied_bias = masked.untied_bias = "decoder.bias";
  return {.model_type = "modernbert",
          .names = {.base = "model",
                    .words = "embeddings.tok_embeddings",
                    .embedding_norm = "embeddings.norm",
                    .layers = "layers",
                    .norm = "final_norm",
                    .norms = {},
                    .unused = {".inv_freq"}},
          .vocab_size = m.vocab_size,
          .hidden_size = m.hidden_size,
          .layers = m.layers,
          .deviation = m.deviation,
          .pad_token_id = m.pad_token_id,
          .padding_row = m.pad_token_id,
          .embedding_norm = [m](const Weights& w) { return m.norm(w); },
          .norm = [m](const Weights& w) { return m.norm(w); },
          .embedding_dropout = m.embedding_dropout,
          .blocks = [m](const Weights&, HeadKind) -> BlockOf {
            return [m](const Weights& w, Place place) { return m.block(w, place); };
          },
          .rope = {m.everywhere, m.nearby},
          .tied = m.tied,
          .heads = {{HeadKind::masked_lm, masked},
                    {HeadKind::classify, m.head("classifier")},
                    {HeadKind::tag, m.head("classifier")},
                    {HeadKind::answer, m.head("classifier")}}};
}

const RegisterArchitecture modernbert(encoder_architecture({.model_type = "modernbert",
                                                            .dropout_keys = {"attention_dropout", "embedding_dropout",
                                                                             "mlp_dropout", "classifier_dropout"}},
                                                           "ModernBert", read_modernbert));

}  // namespace

}  // namespace attune
