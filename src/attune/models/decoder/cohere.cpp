// Command R: Cohere 2024, "Command R". Llama with LayerNorm without bias, the feed-forward network beside attention,
// adjacent pairs turned, logits scaled. Weight names as published on Hugging Face (CohereForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

Block cohere_block(const Weights& w, const LlamaFamily& l, bool normed_heads, Place place) {
  Block block{.attention = l.attention_of(w, place),
              .attention_norm = l.norm(w / "input_layernorm"),
              .feedforward = l.feedforward_of(w / "mlp", l.intermediate_size),
              .order = NormOrder::pre,
              .feedforward_reads = FeedForwardInput::beside_same_norm,
              .place = place};
  if (!normed_heads) return block;
  auto each = [&](const char* name, std::int64_t heads) {
    return Norm::by_head(w / "self_attn" / name, {heads, l.attention.head_dim}, l.epsilon, HeadWeights::together);
  };
  block.attention.query_norm = each("q_norm", l.attention.heads);
  block.attention.key_norm = each("k_norm", l.attention.kv_heads);
  return block;
}

DecoderSpec read_cohere(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 256000,
                                        .hidden_size = 8192,
                                        .intermediate_size = 22528,
                                        .layers = 40,
                                        .attention = {.heads = 64, .kv_heads = 0, .head_dim = 0},
                                        .rope_defaults = {.longest = 8192, .theta = 500000},
                                        .epsilon = 1e-5,
                                        .eos_token_ids = {255001},
                                        .pad_token_id = 0,
                                        .tied = true,
                                        .keys = {.epsilon = "layer_norm_eps"},
                                        .norm_of = [](const Weights& w, std::int64_t width, double epsilon) {
                                          return Norm::layer(w, width, epsilon, false);
                                        }});
  if (c.gives_null("pad_token_id")) l.pad_token_id = std::nullopt;
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  l.rope.pairing = RotaryPairing::interleaved;
  const bool normed_heads = c.flag_or("use_qk_norm", false);
  c.ignore({"model_max_length"});  // of the service that the model was published for
  DecoderSpec spec = l.spec("cohere");
  spec.block = [=](const Weights& w, Place place) { return cohere_block(w, l, normed_heads, place); };
  spec.head.scale = c.number_or("logit_scale", 0.0625, {.above = 0});
  return spec;
}

const RegisterArchitecture cohere(decoder_architecture({.model_type = "cohere",
                                                        .classes = {{"CohereModel", HeadKind::none},
                                                                    {"CohereForCausalLM", HeadKind::causal_lm}},
                                                        .dropout_keys = {"attention_dropout"}},
                                                       "Cohere", read_cohere));

}  // namespace

}  // namespace attune
