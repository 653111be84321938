// nomic-bert: Nussbaum et al. 2024, "Nomic Embed: training a reproducible long context text embedder". BERT with rotary
// positions and gated feed-forwards. Its files come in two spellings: as Nomic publishes them (keys n_embd, n_head,
// ...; one matrix Wqkv) and as transformers 5 writes them (hidden_size, ...; q_proj, k_proj, v_proj). Which of the two
// a config is, n_embd says. In Nomic's, fc12 is the gate and fc11 what it multiplies.
#include "attune/base/json_values.h"

#include "attune/models/config_values.h"
#include "attune/models/encoder/bert_family.h"

namespace attune {

namespace {

struct NomicConfig : BertFamily {
  RopeConfig rope = {};
  AttentionSizes sizes = {};
  bool attention_bias = false, up_bias = false, down_bias = false;
  double classifier_dropout = 0, embedding_dropout = 0, inner_dropout = 0;

  static NomicConfig as_nomic(const ConfigReader& c);
  static NomicConfig as_transformers(const ConfigReader& c);
  Block block(const Weights& w, Place place) const;
};

/// A key of Nomic's that has one value in all its published encoders.
void fixed(const ConfigReader& c, const char* key, bool value) {
  if (c.flag_or(key, value) != value) c.reject(key, value ? "only true is known here" : "only false is known here");
}

Activation gate_of(const ConfigReader& c) {
  const std::string name = c.choice_or("activation_function", "swiglu", {"swiglu", "geglu", "glu"});
  if (name == "swiglu") return Activation::silu;
  return name == "geglu" ? Activation::gelu : Activation::sigmoid;
}

NomicConfig NomicConfig::as_nomic(const ConfigReader& c) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28}, rate{0, 1};
  NomicConfig n;
  n.hidden_size = c.integer("n_embd", count);
  n.heads = c.integer_or("n_head", 12, count);
  if (n.hidden_size % n.heads != 0) c.reject("n_head", "must divide n_embd");
  n.sizes = {n.heads, n.heads, n.head_dim()};
  n.layers = c.integer_or("n_layer", 12, {.at_least = 1, .at_most = 4096});
  n.intermediate_size = c.integer_or("n_inner", 4 * n.hidden_size, count);
  const std::int64_t multiple = c.integer_or("pad_vocab_size_multiple", 1, count);
  n.vocab_size = (c.integer_or("vocab_size", 30528, count) + multiple - 1) / multiple * multiple;
  n.types = c.integer_or("type_vocab_size", 2, {.at_least = 0, .at_most = 1 << 28});
  n.pad_token_id = c.integer_or("pad_token_id", 0, {.at_least = 0});
  n.activation = gate_of(c);
  // transformers' names for two of the rates are taken, too, and go before.
  n.hidden_dropout = c.number_or("hidden_dropout_prob", c.number_or("resid_pdrop", 0, rate), rate);
  n.embedding_dropout = c.number_or("embd_pdrop", 0, rate);
  n.attention_dropout = c.number_or("attention_probs_dropout_prob", c.number_or("attn_pdrop", 0, rate), rate);
  n.classifier_dropout = c.number_or("classifier_dropout", n.hidden_dropout, rate);
  n.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
  n.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
  n.attention_bias = c.flag_or("qkv_proj_bias", true);
  n.up_bias = c.flag_or("mlp_fc1_bias", true);
  n.down_bias = c.flag_or("mlp_fc2_bias", true);
  n.tied = c.flag_or("tie_word_embeddings", true);
  n.rope.theta = c.number_or("rotary_emb_base", 10000, {.at_least = 1e-6});
  const double share = c.number_or("rotary_emb_fraction", 1, {.at_most = 1, .above = 0});
  n.rope.rotary_dims = static_cast<std::int64_t>(static_cast<double>(n.head_dim()) * share);
  if (n.rope.rotary_dims < 2 || n.rope.rotary_dims % 2 != 0)
    c.reject("rotary_emb_fraction", "expected an even number of a head's values, above 0");
  if (c.flag_or("rotary_emb_interleaved", false)) n.rope.pairing = RotaryPairing::interleaved;
  for (const char* key : {"rotary_emb_scale_base", "rotary_scaling_factor"}) {
    c.ignore({key});
    if (c.has(key)) c.reject(key, "positions are not scaled here: leave it out");
  }
  for (const char* key : {"prenorm", "parallel_block", "parallel_block_tied_norm", "use_rms_norm", "causal",
                          "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"})
    fixed(c, key, false);
  fixed(c, "scale_attn_weights", true);
  // How the training program ran, summaries of GPT-2's config class, and the lengths seen in training: any is read.
  c.ignore({"auto_map", "n_positions", "max_trained_positions", "dense_seq_output", "fused_bias_fc",
            "fused_dropout_add_ln", "last_layer_subset", "use_flash_attn", "use_xentropy", "bos_token_id",
            "eos_token_id", "pad_token_id", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
            "summary_type", "summary_use_proj"});
  return n;
}

NomicConfig NomicConfig::as_transformers(const ConfigReader& c) {
  NomicConfig n{BertFamily::read(c, {.vocab_size = 30528,
                                     .positions = 2048,
                                     .activation = Activation::silu,
                                     .hidden_dropout = 0,
                                     .attention_dropout = 0})};
  const std::int64_t head_dim = c.integer_or("head_dim", n.head_dim(), {.at_least = 1, .at_most = 1 << 20});
  n.sizes = {n.heads, n.heads, head_dim};
  n.rope = read_rope(c, head_dim, {.longest = n.positions});
  if (!c.has("rope_theta") && !(c.has("rope_parameters") && c.raw("rope_parameters").contains("rope_theta")))
    n.rope.theta = 1000;
  n.embedding_dropout = n.hidden_dropout;
  n.classifier_dropout = c.number_or("classifier_dropout", n.hidden_dropout, {0, 1});
  return n;
}

Block NomicConfig::block(const Weights& w, Place place) const {
  const LinearOptions attended{.bias = attention_bias, .deviation = deviation};
  const LinearOptions in{.bias = up_bias, .deviation = deviation}, out{.bias = down_bias, .deviation = deviation};
  const Weights attn = w / "attn", mlp = w / "mlp";
  const std::int64_t width = sizes.query_width();
  return {.attention = {.output = Linear(attn / "out_proj", width, hidden_size, attended),
                        .fused = Linear(attn / "Wqkv", hidden_size, 3 * width, attended),
                        .sizes = sizes,
                        .rule = {.mask = bidirectional()},
                        .dropout = attention_dropout},
          .attention_norm = norm(w / "norm1", hidden_size),
          .feedforward = {.up = Linear(mlp / "fc11", hidden_size, intermediate_size, in),
                          .down = Linear(mlp / "fc2", intermediate_size, hidden_size, out),
                          .gate = Linear(mlp / "fc12", hidden_size, intermediate_size, in),
                          .activation = activation},
          .feedforward_norm = norm(w / "norm2", hidden_size),
          .order = NormOrder::post,
          .dropout = hidden_dropout,
          .place = place};
}

EncoderSpec read_nomic(const ConfigReader& c) {
  const bool own = c.has("n_embd");
  const NomicConfig n = own ? NomicConfig::as_nomic(c) : NomicConfig::as_transformers(c);
  const std::string base = own ? "bert" : "nomic_bert";  // the files of an encoder alone leave it out
  EncoderSpec spec = n.spec("nomic_bert", base);
  spec.names.layers = "encoder.layers";
  spec.names.embedding_norm = "emb_ln";
  spec.names.unused.push_back(".inv_freq");
  spec.names.unused.insert(spec.names.unused.end(), {"cls.seq_relationship.weight", "cls.seq_relationship.bias"});
  spec.embedding_dropout = n.embedding_dropout;
  spec.positions = {};
  spec.longest = {};
  spec.rope = {n.rope};
  spec.blocks = [n](const Weights&, HeadKind) -> BlockOf {
    return [n](const Weights& w, Place place) { return n.block(w, place); };
  };
  HeadLayers masked = n.masked_lm("cls.predictions", "transform.dense", "transform.layer_norm");
  if (n.activation == Activation::sigmoid) masked.activation = Activation::gelu;
  spec.heads = {{HeadKind::masked_lm, masked},
                {HeadKind::classify, classifier_of_pooler(base + ".pooler.dense", n.classifier_dropout)},
                {HeadKind::tag, output_alone("classifier", n.classifier_dropout)}};
  return spec;
}

const RegisterArchitecture nomic_bert(encoder_architecture(
    {.model_type = "nomic_bert",
     .classes = {{"NomicBertForPreTraining", HeadKind::masked_lm}},
     .dropout_keys = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"}},
    "NomicBert", read_nomic));

}  // namespace

}  // namespace attune
