// Qwen 3: Yang et al. 2025, "Qwen3 technical report". Llama with normed queries and keys in place of Qwen 2's biases.
// Weight names as published on Hugging Face (Qwen3ForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

Block qwen3_block(const Weights& w, const LlamaFamily& l, Place place) {
  Block block = l.block(w, place);
  block.attention.query_norm = l.norm(w / "self_attn" / "q_norm", l.attention.head_dim);
  block.attention.key_norm = l.norm(w / "self_attn" / "k_norm", l.attention.head_dim);
  return block;
}

DecoderSpec read_qwen3(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 151936,
                                        .intermediate_size = 22016,
                                        .attention = {.heads = 32, .kv_heads = 32, .head_dim = 128},
                                        .rope_defaults = {.longest = 32768},
                                        .eos_token_ids = {}});
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  const std::int64_t first = c.integer_or("max_window_layers", 28, {.at_least = 0});
  l.windows = read_qwen_windows(c, l.layers, [=](std::int64_t i) { return i >= first; });
  DecoderSpec spec = l.spec("qwen3");
  spec.block = [l](const Weights& w, Place place) { return qwen3_block(w, l, place); };
  return spec;
}

const RegisterArchitecture qwen3(decoder_architecture({.model_type = "qwen3", .dropout_keys = {"attention_dropout"}},
                                                      "Qwen3", read_qwen3));

}  // namespace

}  // namespace attune
