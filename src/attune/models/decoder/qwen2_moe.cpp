// Qwen 1.5 and 2 with experts: Yang et al. 2024, "Qwen2 technical report", section 2.2.2. Many small experts, and one
// that all tokens read, by a gate of its own. Weight names as published on Hugging Face (Qwen2MoeForCausalLM).
#include <algorithm>

#include "attune/models/decoder/qwen_moe.h"

namespace attune {

QwenExperts QwenExperts::read(const ConfigReader& c, std::int64_t layers, const ExpertSizes& defaults) {
  constexpr ConfigRange count{.at_least = 1, .at_most = 1 << 28};
  QwenExperts q{.sizes = defaults, .in_layer = {}};
  constexpr ConfigRange some{.at_least = 0, .at_most = 65536};
  q.sizes.experts =
      c.has("num_experts") ? c.integer("num_experts", some) : c.integer_or("num_local_experts", defaults.experts, some);
  if (c.has("num_local_experts") && c.integer("num_local_experts") != q.sizes.experts)  // transformers 5's Qwen 3 name
    c.reject("num_local_experts", "num_experts is another: give one of them");
  const auto most = static_cast<double>(std::max<std::int64_t>(q.sizes.experts, 1));
  q.sizes.chosen = c.integer_or("num_experts_per_tok", std::min<std::int64_t>(defaults.chosen, q.sizes.experts),
                                {.at_least = 1, .at_most = most});
  q.sizes.inner = c.integer_or("moe_intermediate_size", defaults.inner, count);
  q.sizes.weights = c.flag_or("norm_topk_prob", false) ? ExpertWeights::of_chosen : ExpertWeights::of_all;
  const std::int64_t step = c.integer_or("decoder_sparse_step", 1, count);
  for (std::int64_t i = 0; i < layers; ++i) q.in_layer.push_back(q.sizes.experts > 0 && (i + 1) % step == 0);
  for (double layer : c.numbers_or("mlp_only_layers", {}))
    if (layer >= 0 && layer < static_cast<double>(layers)) q.in_layer[static_cast<std::size_t>(layer)] = false;
  return q;
}

bool QwenExperts::any() const { return std::ranges::find(in_layer, true) != in_layer.end(); }

namespace {

struct Qwen2Moe {
  LlamaFamily l;
  QwenExperts experts;
  std::int64_t shared_inner;

  Block block(const Weights& w, Place place) const {
    const Weights mlp = w / "mlp";
    FeedForward network;
    if (experts.at(place)) {
      Experts mixture = l.experts_of(mlp, experts.sizes);
      mixture.shared = l.feedforward_of(mlp / "shared_expert", shared_inner);
      mixture.shared_gate =
          Linear(mlp / "shared_expert_gate", l.hidden_size, 1, {.bias = false, .deviation = l.deviation});
      network.experts = std::make_shared<Experts>(std::move(mixture));
    } else {
      network = l.feedforward_of(mlp, l.intermediate_size);
    }
    return {.attention = l.attention_of(w, place),
            .attention_norm = l.norm(w / "input_layernorm"),
            .feedforward = std::move(network),
            .feedforward_norm = l.norm(w / "post_attention_layernorm"),
            .order = NormOrder::pre,
            .place = place};
  }
};

DecoderSpec read_qwen2_moe(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 151936,
                                        .hidden_size = 2048,
                                        .intermediate_size = 5632,
                                        .layers = 24,
                                        .attention = {.heads = 16, .kv_heads = 16, .head_dim = 0},
                                        .rope_defaults = {.longest = 32768},
                                        .eos_token_ids = {}});
  l.query_key_value_bias = c.flag_or("qkv_bias", true);
  const std::int64_t before = c.integer_or("max_window_layers", 28, {.at_least = 0});
  l.windows = read_qwen_windows(c, l.layers, [=](std::int64_t i) { return i % 2 == 0 && i < before; });
  const QwenExperts experts = QwenExperts::read(c, l.layers, {.experts = 60, .chosen = 4, .inner = 1408});
  const Qwen2Moe model{l, experts,
                       c.integer_or("shared_expert_intermediate_size", 5632, {.at_least = 1, .at_most = 1 << 28})};
  DecoderSpec spec = l.spec("qwen2_moe");
  l.add_stacked_experts(spec.names, "mlp", experts.sizes.names);
  spec.block = [model](const Weights& w, Place place) { return model.block(w, place); };
  const double loss = read_router_loss(c);
  spec.router_loss = experts.any() ? loss : 0;
  return spec;
}

const RegisterArchitecture qwen2_moe(decoder_architecture({.model_type = "qwen2_moe",
                                                           .dropout_keys = {"attention_dropout"}},
                                                          "Qwen2Moe", read_qwen2_moe));

}  // namespace

}  // namespace attune
