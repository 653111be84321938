// Qwen 3 with experts: Yang et al. 2025, "Qwen3 technical report". Qwen 3's attention, Qwen 2's experts without the
// shared one. Weight names as published on Hugging Face (Qwen3MoeForCausalLM).
#include "attune/models/decoder/qwen_moe.h"

namespace attune {

namespace {

Block qwen3_moe_block(const Weights& w, const LlamaFamily& l, const QwenExperts& experts, Place place) {
  Block block{.attention = l.attention_of(w, place),
              .attention_norm = l.norm(w / "input_layernorm"),
              .feedforward = {},
              .feedforward_norm = l.norm(w / "post_attention_layernorm"),
              .order = NormOrder::pre,
              .place = place};
  block.attention.query_norm = l.norm(w / "self_attn" / "q_norm", l.attention.head_dim);
  block.attention.key_norm = l.norm(w / "self_attn" / "k_norm", l.attention.head_dim);
  if (experts.at(place))
    block.feedforward.experts = std::make_shared<Experts>(l.experts_of(w / "mlp", experts.sizes));
  else
    block.feedforward = l.feedforward_of(w / "mlp", l.intermediate_size);
  return block;
}

DecoderSpec read_qwen3_moe(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 151936,
                                        .hidden_size = 2048,
                                        .intermediate_size = 6144,
                                        .layers = 24,
                                        .attention = {.heads = 32, .kv_heads = 4, .head_dim = 0},
                                        .rope_defaults = {.longest = 32768},
                                        .eos_token_ids = {}});
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  const std::int64_t window = c.flag_or("use_sliding_window", false) ? read_window(c, 4096) : 0;
  l.windows.assign(static_cast<std::size_t>(l.layers), window);
  // Published configs have them from Qwen 2's; transformers gives all layers of this model the window, or none.
  c.ignore({"sliding_window", "max_window_layers"});
  const QwenExperts experts = QwenExperts::read(c, l.layers, {.experts = 128, .chosen = 8, .inner = 768});
  DecoderSpec spec = l.spec("qwen3_moe");
  l.add_stacked_experts(spec.names, "mlp", experts.sizes.names);
  spec.block = [=](const Weights& w, Place place) { return qwen3_moe_block(w, l, experts, place); };
  const double loss = read_router_loss(c);
  spec.router_loss = experts.any() ? loss : 0;
  return spec;
}

const RegisterArchitecture qwen3_moe(decoder_architecture({.model_type = "qwen3_moe",
                                                           .dropout_keys = {"attention_dropout"}},
                                                          "Qwen3Moe", read_qwen3_moe));

}  // namespace

}  // namespace attune
