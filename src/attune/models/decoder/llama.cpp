// Llama: Touvron et al. 2023, "LLaMA: open and efficient foundation language models". Weight names as published on
// Hugging Face (LlamaModel, LlamaForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

DecoderSpec read_llama(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {});
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  l.mlp_bias = c.flag_or("mlp_bias", false);
  return l.spec("llama");
}

const RegisterArchitecture llama(decoder_architecture({.model_type = "llama", .dropout_keys = {"attention_dropout"}},
                                                      "Llama", read_llama));

}  // namespace

}  // namespace attune
