// OLMo 2: OLMo Team 2024, "2 OLMo 2 Furious". Llama with norms of each sublayer's output in place of its input, and of
// queries and keys over all heads. Weight names as published on Hugging Face (Olmo2ForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

Block olmo2_block(const Weights& w, const LlamaFamily& l, Place place) {
  Block block{.attention = l.attention_of(w, place),
              .feedforward = l.feedforward_of(w / "mlp", l.intermediate_size),
              .order = NormOrder::pre,
              .attention_output_norm = l.norm(w / "post_attention_layernorm"),
              .feedforward_output_norm = l.norm(w / "post_feedforward_layernorm"),
              .place = place};
  block.attention.query_norm = l.norm(w / "self_attn" / "q_norm", l.attention.query_width());
  block.attention.key_norm = l.norm(w / "self_attn" / "k_norm", l.attention.kv_width());
  return block;
}

DecoderSpec read_olmo2(const ConfigReader& c) {
  LlamaFamily l =
      LlamaFamily::read(c, {.vocab_size = 50304, .epsilon = 1e-5, .eos_token_ids = {50279}, .pad_token_id = 1});
  if (c.gives_null("pad_token_id")) l.pad_token_id = std::nullopt;
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  DecoderSpec spec = l.spec("olmo2");
  spec.block = [l](const Weights& w, Place place) { return olmo2_block(w, l, place); };
  return spec;
}

const RegisterArchitecture olmo2(decoder_architecture({.model_type = "olmo2", .dropout_keys = {"attention_dropout"}},
                                                      "Olmo2", read_olmo2));

}  // namespace

}  // namespace attune
