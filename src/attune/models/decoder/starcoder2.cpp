// StarCoder 2: Lozhkov et al. 2024, "StarCoder 2 and The Stack v2: the next generation". Mistral with LayerNorm, biases
// and a feed-forward network without gate. Weight names as published on Hugging Face (Starcoder2ForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

Block starcoder2_block(const Weights& w, const LlamaFamily& l, double residual_dropout, Place place) {
  const LinearOptions dense{.bias = l.mlp_bias, .deviation = l.deviation};
  return {.attention = l.attention_of(w, place),
          .attention_norm = l.norm(w / "input_layernorm"),
          .feedforward = {.up = Linear(w / "mlp" / "c_fc", l.hidden_size, l.intermediate_size, dense),
                          .down = Linear(w / "mlp" / "c_proj", l.intermediate_size, l.hidden_size, dense),
                          .activation = l.activation},
          .feedforward_norm = l.norm(w / "post_attention_layernorm"),
          .order = NormOrder::pre,
          .dropout = residual_dropout,
          .place = place};
}

DecoderSpec read_starcoder2(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 49152,
                                        .hidden_size = 3072,
                                        .intermediate_size = 12288,
                                        .layers = 30,
                                        .attention = {.heads = 24, .kv_heads = 2, .head_dim = 0},
                                        .activation = Activation::gelu_tanh,
                                        .rope_defaults = {.longest = 4096},
                                        .epsilon = 1e-5,
                                        .deviation = 0.018042,
                                        .eos_token_ids = {50256},
                                        .tied = true,
                                        .keys = {.epsilon = "norm_epsilon"},
                                        .norm_of = [](const Weights& w, std::int64_t width, double epsilon) {
                                          return Norm::layer(w, width, epsilon);
                                        }});
  l.query_key_value_bias = l.output_bias = l.mlp_bias = c.flag_or("use_bias", true);
  l.windows.assign(static_cast<std::size_t>(l.layers), read_window(c, 0));
  const double residual_dropout = c.number_or("residual_dropout", 0, {0, 1});
  c.choice_or("mlp_type", "default", {"default"});
  c.choice_or("norm_type", "layer_norm", {"layer_norm"});
  // Of the program that trained it; hidden_act and norm_epsilon beside them are what is read.
  c.ignore({"activation_function", "layer_norm_epsilon", "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32",
            "scale_attn_weights"});
  DecoderSpec spec = l.spec("starcoder2");
  spec.block = [=](const Weights& w, Place place) { return starcoder2_block(w, l, residual_dropout, place); };
  spec.embedding_dropout = c.number_or("embedding_dropout", 0, {0, 1});
  return spec;
}

const RegisterArchitecture starcoder2(decoder_architecture(
    {.model_type = "starcoder2", .dropout_keys = {"attention_dropout", "residual_dropout", "embedding_dropout"}},
    "Starcoder2", read_starcoder2));

}  // namespace

}  // namespace attune
