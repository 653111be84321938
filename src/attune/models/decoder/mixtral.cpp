// Mixtral: Jiang et al. 2024, "Mixtral of experts". Mistral with a mixture of experts in the feed-forward network's
// place. Weight names as published on Hugging Face (MixtralForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

Block mixtral_block(const Weights& w, const LlamaFamily& l, const ExpertSizes& sizes, Place place) {
  return {.attention = l.attention_of(w, place),
          .attention_norm = l.norm(w / "input_layernorm"),
          .feedforward = {.experts = std::make_shared<Experts>(l.experts_of(w / "block_sparse_moe", sizes))},
          .feedforward_norm = l.norm(w / "post_attention_layernorm"),
          .order = NormOrder::pre,
          .place = place};
}

DecoderSpec read_mixtral(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.intermediate_size = 14336,
                                        .attention = {.heads = 32, .kv_heads = 8, .head_dim = 0},
                                        .rope_defaults = {.longest = 131072, .theta = 1e6},
                                        .epsilon = 1e-5});
  l.windows.assign(static_cast<std::size_t>(l.layers), read_window(c, 0));
  const std::int64_t experts = c.integer_or("num_local_experts", 8, {.at_least = 1, .at_most = 65536});
  const ExpertSizes sizes{
      .experts = experts,
      .chosen = c.integer_or("num_experts_per_tok", 2, {.at_least = 1, .at_most = static_cast<double>(experts)}),
      .inner = l.intermediate_size,
      .names = {.gate = "w1", .up = "w3", .down = "w2"}};
  if (c.number_or("router_jitter_noise", 0) != 0)
    c.reject("router_jitter_noise", "noise on what routers read is not trained with here: expected 0");
  DecoderSpec spec = l.spec("mixtral");
  l.add_stacked_experts(spec.names, "block_sparse_moe", sizes.names);
  spec.block = [=](const Weights& w, Place place) { return mixtral_block(w, l, sizes, place); };
  spec.router_loss = read_router_loss(c);
  return spec;
}

const RegisterArchitecture mixtral(
    decoder_architecture({.model_type = "mixtral", .dropout_keys = {"attention_dropout"}}, "Mixtral", read_mixtral));

}  // namespace

}  // namespace attune
