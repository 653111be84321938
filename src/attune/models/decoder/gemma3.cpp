// Gemma 3, its text model: Gemma Team 2025, "Gemma 3 technical report". Gemma 2 with normed queries and keys in place
// of the scores' cap, five layers with windows to one without, and rotary positions of each kind's own. Weight names as
// published on Hugging Face (Gemma3ForCausalLM, model_type "gemma3_text").
#include <cmath>

#include "attune/models/decoder/gemma.h"

namespace attune {

namespace {

struct Gemma3Rope {
  RopeConfig whole, windowed;
};

/// One object with two objects (transformers 5), or rope_theta, rope_scaling and rope_local_base_freq beside each
/// other.
Gemma3Rope read_gemma3_rope(const ConfigReader& c, const LlamaFamily& l) {
  RopeDefaults defaults = l.rope_defaults, local = l.rope_defaults;
  local.theta = 10000;
  const std::int64_t dim = l.attention.head_dim;
  if (!c.has("rope_parameters"))
    return {l.rope,
            {.theta = c.number_or("rope_local_base_freq", local.theta, {.at_least = 1e-6}), .rotary_dims = dim}};
  const ConfigReader both = c.object_or_empty("rope_parameters");
  for (const char* key : {"rope_theta", "rope_type"})
    if (both.has(key)) both.reject(key, "Gemma 3 has one for each kind of layer: in full_attention, sliding_attention");
  return {read_rope_of(both.object_or_empty("full_attention"), c, dim, defaults),
          read_rope_of(both.object_or_empty("sliding_attention"), c, dim, local)};
}

Block gemma3_block(const Weights& w, const LlamaFamily& l, Place place) {
  Block block = gemma2_block(l, w, place);
  block.attention.query_norm = l.norm(w / "self_attn" / "q_norm", l.attention.head_dim);
  block.attention.key_norm = l.norm(w / "self_attn" / "k_norm", l.attention.head_dim);
  block.attention.rotary = l.windows.at(static_cast<std::size_t>(place.layer)) > 0 ? 1 : 0;
  return block;
}

DecoderSpec read_gemma3(const ConfigReader& c) {
  LlamaFamily defaults = gemma_defaults();
  defaults.vocab_size = 262208;
  defaults.hidden_size = 2304, defaults.intermediate_size = 9216, defaults.layers = 26;
  defaults.attention = {.heads = 8, .kv_heads = 4, .head_dim = 256};
  defaults.rope_defaults = {.longest = 131072, .theta = 1e6};
  defaults.keys.activation = "hidden_activation";
  LlamaFamily l = read_gemma(c, defaults);
  const Gemma3Rope rope = read_gemma3_rope(c, l);
  l.score_scale = 1 / std::sqrt(c.number_or("query_pre_attn_scalar", 256, {.above = 0}));
  if (c.has("attn_logit_softcapping"))
    c.reject("attn_logit_softcapping", "Gemma 3 does not cap its scores: transformers does not read it");
  const char* pattern_key = c.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
  const std::int64_t pattern = c.integer_or(pattern_key, 6, {.at_least = 1});
  c.ignore({"sliding_window_pattern", "_sliding_window_pattern"});
  l.windows = read_windows(c, l.layers, read_window(c, 4096), [=](std::int64_t i) { return (i + 1) % pattern != 0; });
  DecoderSpec spec = gemma_spec(l, "gemma3_text");
  spec.block = [l](const Weights& w, Place place) { return gemma3_block(w, l, place); };
  spec.rope = {rope.whole, rope.windowed};
  if (c.has("final_logit_softcapping")) spec.head.logit_cap = c.number("final_logit_softcapping", {.above = 0});
  return spec;
}

const RegisterArchitecture gemma3(decoder_architecture({.model_type = "gemma3_text",
                                                        .classes = {{"Gemma3TextModel", HeadKind::none},
                                                                    {"Gemma3ForCausalLM", HeadKind::causal_lm},
                                                                    {"Gemma3TextForSequenceClassification",
                                                                     HeadKind::classify}},
                                                        .dropout_keys = {"attention_dropout"}},
                                                       "Gemma3", read_gemma3));

}  // namespace

}  // namespace attune
