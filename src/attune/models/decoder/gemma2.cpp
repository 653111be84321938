// Gemma 2: Gemma Team 2024, "Gemma 2: improving open language models at a practical size". Windows on every other
// layer, soft caps on scores and logits, norms on both sides of a sublayer. Weight names as published on Hugging Face
// (Gemma2ForCausalLM).
#include <cmath>

#include "attune/models/decoder/gemma.h"

namespace attune {

Block gemma2_block(const LlamaFamily& l, const Weights& w, Place place) {
  return {.attention = l.attention_of(w, place),
          .attention_norm = l.norm(w / "input_layernorm"),
          .feedforward = l.feedforward_of(w / "mlp", l.intermediate_size),
          .feedforward_norm = l.norm(w / "pre_feedforward_layernorm"),
          .order = NormOrder::pre,
          .attention_output_norm = l.norm(w / "post_attention_layernorm"),
          .feedforward_output_norm = l.norm(w / "post_feedforward_layernorm"),
          .place = place};
}

namespace {

DecoderSpec read_gemma2(const ConfigReader& c) {
  LlamaFamily defaults = gemma_defaults();
  defaults.hidden_size = 2304, defaults.intermediate_size = 9216, defaults.layers = 26;
  defaults.attention = {.heads = 8, .kv_heads = 4, .head_dim = 256};
  defaults.keys.activation = "hidden_activation";
  LlamaFamily l = read_gemma(c, defaults);
  c.ignore({"hidden_act"});  // stands beside hidden_activation; transformers reads that one
  l.score_scale = 1 / std::sqrt(c.number_or("query_pre_attn_scalar", 256, {.above = 0}));
  constexpr const char* scores = "attn_logit_softcapping";
  l.score_cap = c.number_or(scores, c.gives_null(scores) ? 0 : 50, {.above = 0});
  l.windows = read_windows(c, l.layers, read_window(c, 4096), [](std::int64_t i) { return i % 2 == 0; });
  DecoderSpec spec = gemma_spec(l, "gemma2");
  spec.block = [l](const Weights& w, Place place) { return gemma2_block(l, w, place); };
  constexpr const char* logits = "final_logit_softcapping";
  if (!c.gives_null(logits)) spec.head.logit_cap = c.number_or(logits, 30, {.above = 0});
  c.ignore({scores, logits});
  return spec;
}

const RegisterArchitecture gemma2(decoder_architecture({.model_type = "gemma2", .dropout_keys = {"attention_dropout"}},
                                                       "Gemma2", read_gemma2));

}  // namespace

}  // namespace attune
