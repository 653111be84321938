// Qwen 2 and 2.5: Yang et al. 2024, "Qwen2 technical report". Llama with biases on queries, keys and values, and, where
// a config asks for them, windows on its later layers. Weight names as published on Hugging Face (Qwen2ForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

DecoderSpec read_qwen2(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 151936,
                                        .intermediate_size = 22016,
                                        .attention = {.heads = 32, .kv_heads = 32, .head_dim = 0},
                                        .rope_defaults = {.longest = 32768},
                                        .eos_token_ids = {}});
  l.query_key_value_bias = true;
  const std::int64_t first = c.integer_or("max_window_layers", 28, {.at_least = 0});
  l.windows = read_qwen_windows(c, l.layers, [=](std::int64_t i) { return i >= first; });
  if (c.flag_or("use_mrope", false)) c.reject("use_mrope", "positions of images are not read here");
  return l.spec("qwen2");
}

const RegisterArchitecture qwen2(decoder_architecture({.model_type = "qwen2", .dropout_keys = {"attention_dropout"}},
                                                      "Qwen2", read_qwen2));

}  // namespace

}  // namespace attune
