// MPT: MosaicML 2023, "Introducing MPT-7B". ALiBi, no bias anywhere, one matrix of queries, keys and values, which may
// be clipped. Weight names as published on Hugging Face (MptForCausalLM; MosaicML's own files say MPTForCausalLM).
#include <bit>
#include <cmath>

#include "attune/models/config_values.h"
#include "attune/models/decoder/decoder_model.h"

namespace attune {

namespace {

/// Other than the paper's where heads are no power of two: every second slope of the power of two above, from the
/// second on, then those between.
std::vector<double> mpt_slopes(std::int64_t heads, double most) {
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(heads)));
  std::vector<double> all, slopes;
  for (std::int64_t i = 1; i <= power; ++i)
    all.push_back(std::exp2(-most * static_cast<double>(i) / static_cast<double>(power)));
  if (power == heads) return all;
  for (std::size_t first : {1u, 0u})
    for (std::size_t i = first; i < all.size(); i += 2) slopes.push_back(all[i]);
  slopes.resize(static_cast<std::size_t>(heads));
  return slopes;
}

struct Mpt {
  std::int64_t vocab_size, hidden_size, layers, heads;
  double epsilon, deviation, dropout, alibi_most;
  std::optional<double> clip, scale;

  AttentionSizes sizes() const { return {heads, heads, hidden_size / heads}; }
  Norm norm(const Weights& w) const { return Norm::layer(w, hidden_size, epsilon, false); }

  /// "attn_config". What transformers passes over is an error where it would change the result.
  void read_attention(const ConfigReader& a) {
    dropout = a.number_or("attn_pdrop", 0, {0, 1});
    if (a.has("clip_qkv")) clip = a.number("clip_qkv", {.at_least = 0});
    if (clip && *clip == 0) clip = std::nullopt;  // as transformers reads it
    if (a.has("softmax_scale")) scale = a.number("softmax_scale", {.above = 0});
    alibi_most = a.number_or("alibi_bias_max", 8, {.above = 0});
    // transformers builds ALiBi with the default, whatever stands here.
    if (alibi_most != 8) a.reject("alibi_bias_max", "expected 8");
    if (!a.flag_or("alibi", true))
      a.reject("alibi", "MPT without ALiBi has learned positions, which are not read here");
    if (a.string_or("attn_type", "multihead_attention") != "multihead_attention")
      a.reject("attn_type", "expected multihead_attention");
    for (const char* key : {"qk_ln", "prefix_lm", "attn_uses_sequence_id"})
      if (a.flag_or(key, false)) a.reject(key, "expected false");
    // Which program computes it, and what transformers 4 and 5 write into any object that they call a config.
    a.ignore(harmless_keys());
    a.ignore({"attn_impl",
              "model_type",
              "architectures",
              "add_cross_attention",
              "bad_words_ids",
              "begin_suppress_tokens",
              "bos_token_id",
              "chunk_size_feed_forward",
              "cross_attention_hidden_size",
              "decoder_start_token_id",
              "diversity_penalty",
              "do_sample",
              "early_stopping",
              "encoder_no_repeat_ngram_size",
              "eos_token_id",
              "exponential_decay_length_penalty",
              "finetuning_task",
              "forced_bos_token_id",
              "forced_eos_token_id",
              "is_decoder",
              "is_encoder_decoder",
              "length_penalty",
              "max_length",
              "min_length",
              "no_repeat_ngram_size",
              "num_beam_groups",
              "num_beams",
              "num_return_sequences",
              "output_scores",
              "pad_token_id",
              "prefix",
              "remove_invalid_values",
              "repetition_penalty",
              "return_dict_in_generate",
              "sep_token_id",
              "suppress_tokens",
              "temperature",
              "tf_legacy_loss",
              "tie_encoder_decoder",
              "tie_word_embeddings",
              "top_k",
              "top_p",
              "torchscript",
              "typical_p",
              "use_bfloat16"});
  }

  static Mpt read(const ConfigReader& c) {
    constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
    Mpt m;
    m.vocab_size = c.integer_or("vocab_size", 50368, count);
    m.hidden_size = c.integer_or("d_model", 2048, count);
    m.layers = c.integer_or("n_layers", 24, {.at_least = 1, .at_most = 4096});
    m.heads = c.integer_or("n_heads", 16, count);
    if (m.hidden_size % m.heads != 0) c.reject("n_heads", "must divide d_model");
    m.epsilon = c.number_or("layer_norm_epsilon", 1e-5, {.at_least = 0, .at_most = 1});
    m.deviation = c.number_or("initializer_range", 0.02, {.at_least = 0, .at_most = 100});
    m.read_attention(c.object_or_empty("attn_config"));
    if (c.integer_or("expansion_ratio", 4) != 4) c.reject("expansion_ratio", "expected 4");
    if (!c.flag_or("no_bias", true)) c.reject("no_bias", "MPT with biases is not read here");
    if (c.number_or("embedding_fraction", 1) != 1) c.reject("embedding_fraction", "expected 1");
    // MosaicML's program multiplies logits by it, transformers does not.
    if (c.has("logit_scale")) c.reject("logit_scale", "programs differ in what they make of it: expected null");
    c.choice_or("norm_type", "low_precision_layernorm", {"low_precision_layernorm", "layernorm"});
    // With ALiBi there are no learned positions, whatever learned_pos_emb says; lengths beyond max_seq_len are what
    // ALiBi is for. The others are of training and of the program that trained it; the two rates are read by nothing.
    c.number_or("max_seq_len", 2048);
    c.ignore({"learned_pos_emb", "init_config", "init_device", "tokenizer_name", "verbose", "resid_pdrop", "emb_pdrop",
              "fc_type", "ffn_config", "bos_token_id"});
    return m;
  }

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.bias = false, .deviation = deviation};
    const Weights attention = w / "attn", ffn = w / "ffn";
    AttentionRule rule = causal() + alibi(mpt_slopes(heads, alibi_most));
    rule.scale = scale;
    return {.attention = {.output = Linear(attention / "out_proj", hidden_size, hidden_size, dense),
                          .fused = Linear(attention / "Wqkv", hidden_size, 3 * hidden_size, dense),
                          .clip = clip,
                          .sizes = sizes(),
                          .rule = std::move(rule),
                          .dropout = dropout},
            .attention_norm = norm(w / "norm_1"),
            .feedforward = {.up = Linear(ffn / "up_proj", hidden_size, 4 * hidden_size, dense),
                            .down = Linear(ffn / "down_proj", 4 * hidden_size, hidden_size, dense),
                            .activation = Activation::gelu},
            .feedforward_norm = norm(w / "norm_2"),
            .order = NormOrder::pre,
            .dropout = dropout,
            .place = place};
  }
};

DecoderSpec read_mpt(const ConfigReader& c) {
  const Mpt m = Mpt::read(c);
  DecoderSpec spec{
      .model_type = "mpt",
      .names = {.base = "transformer", .words = "wte", .layers = "blocks", .norm = "norm_f", .tag = "classifier"},
      .vocab_size = m.vocab_size,
      .hidden_size = m.hidden_size,
      .layers = m.layers,
      .attention = m.sizes(),
      .deviation = m.deviation,
      .eos_token_ids = read_token_ids(c, "eos_token_id", {}),
      .padding_learns = true,
      .block = [m](const Weights& w, Place place) { return m.block(w, place); },
      .norm = [m](const Weights& w) { return m.norm(w); },
      .tied = c.flag_or("tie_word_embeddings", true)};
  if (c.has("pad_token_id")) spec.pad_token_id = c.integer("pad_token_id");
  return spec;
}

const RegisterArchitecture mpt(decoder_architecture({.model_type = "mpt",
                                                     .classes = {{"MptModel", HeadKind::none},
                                                                 {"MptForCausalLM", HeadKind::causal_lm},
                                                                 {"MPTForCausalLM", HeadKind::causal_lm},
                                                                 {"MptForSequenceClassification", HeadKind::classify}},
                                                     .dropout_keys = {"attn_config.attn_pdrop"}},
                                                    "Mpt", read_mpt));

}  // namespace

}  // namespace attune
