// Mistral: Jiang et al. 2023, "Mistral 7B". Llama with a window on all layers. Weight names as published on Hugging
// Face (MistralForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

DecoderSpec read_mistral(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.intermediate_size = 14336,
                                        .attention = {.heads = 32, .kv_heads = 8, .head_dim = 0},
                                        .rope_defaults = {.longest = 131072}});
  l.windows.assign(static_cast<std::size_t>(l.layers), read_window(c, 4096));
  return l.spec("mistral");
}

const RegisterArchitecture mistral(
    decoder_architecture({.model_type = "mistral", .dropout_keys = {"attention_dropout"}}, "Mistral", read_mistral));

}  // namespace

}  // namespace attune
