// Gemma: Gemma Team 2024, "Gemma: open models based on Gemini research and technology". Llama with another scale of the
// embeddings and other norms. Weight names as published on Hugging Face (GemmaForCausalLM).
#include "attune/models/decoder/gemma.h"

#include <cmath>

namespace attune {

LlamaFamily gemma_defaults() {
  return {.vocab_size = 256000,
          .hidden_size = 3072,
          .intermediate_size = 24576,
          .layers = 28,
          .attention = {.heads = 16, .kv_heads = 16, .head_dim = 256},
          .activation = Activation::gelu_tanh,
          .rope_defaults = {.longest = 8192},
          .eos_token_ids = {1},
          .pad_token_id = 0,
          .tied = true,
          .norm_of = [](const Weights& w, std::int64_t width, double epsilon) {
            return Norm::rms(w, width, epsilon, NormWeight::one_and_up);
          }};
}

LlamaFamily read_gemma(const ConfigReader& c, const LlamaFamily& defaults) {
  LlamaFamily l = LlamaFamily::read(c, defaults);
  if (c.gives_null("pad_token_id")) l.pad_token_id = std::nullopt;
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  if (c.flag_or("use_bidirectional_attention", false))
    c.reject("use_bidirectional_attention", "a decoder's tokens see those before them alone");
  c.ignore({"cache_implementation"});  // how transformers would keep keys and values
  return l;
}

DecoderSpec gemma_spec(const LlamaFamily& l, const std::string& model_type) {
  DecoderSpec spec = l.spec(model_type);
  // f32, as transformers keeps it in a model of f32.
  spec.embedding_scale = static_cast<double>(std::sqrt(static_cast<float>(l.hidden_size)));
  return spec;
}

namespace {

DecoderSpec read_gemma1(const ConfigReader& c) {
  LlamaFamily l = read_gemma(c, gemma_defaults());
  // The first published configs say "gelu" and mean its tanh formula: transformers reads them so.
  if (l.activation == Activation::gelu) l.activation = Activation::gelu_tanh;
  // A later key for the same, which transformers no longer reads.
  if (c.has("hidden_activation") && c.string("hidden_activation") != "gelu_pytorch_tanh" &&
      c.string("hidden_activation") != "gelu")
    c.reject("hidden_activation", "give the activation as hidden_act");
  return gemma_spec(l, "gemma");
}

const RegisterArchitecture gemma(decoder_architecture({.model_type = "gemma", .dropout_keys = {"attention_dropout"}},
                                                      "Gemma", read_gemma1));

}  // namespace

}  // namespace attune
