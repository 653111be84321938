// StableLM: Bellagente et al. 2024, "Stable LM 2 1.6B technical report". Llama with LayerNorm, a part of each head
// turned, and on demand biases on queries, keys and values, a norm of each head's own, and the feed-forward network
// beside attention. Weight names as published on Hugging Face (StableLmForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

struct StableLm {
  LlamaFamily l;
  double hidden_dropout;
  bool normed_heads, beside;

  Block block(const Weights& w, Place place) const {
    const Weights self = w / "self_attn";
    Block block{.attention = l.attention_of(w, place),
                .attention_norm = l.norm(w / "input_layernorm"),
                .feedforward = l.feedforward_of(w / "mlp", l.intermediate_size),
                .order = NormOrder::pre,
                .feedforward_dropout = hidden_dropout,
                .place = place};
    if (beside)
      block.feedforward_reads = FeedForwardInput::beside_same_norm;
    else
      block.feedforward_norm = l.norm(w / "post_attention_layernorm");
    if (normed_heads) {
      auto each = [&](const char* name, std::int64_t heads) {
        return Norm::by_head(self / name, {heads, l.attention.head_dim}, l.epsilon, HeadWeights::apart);
      };
      block.attention.query_norm = each("q_layernorm", l.attention.heads);
      block.attention.key_norm = each("k_layernorm", l.attention.kv_heads);
    }
    return block;
  }
};

DecoderSpec read_stablelm(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 50304,
                                        .hidden_size = 2560,
                                        .intermediate_size = 6912,
                                        .attention = {.heads = 32, .kv_heads = 32, .head_dim = 0},
                                        .rope_defaults = {.longest = 4096, .share = 0.25},
                                        .epsilon = 1e-5,
                                        .eos_token_ids = {0},
                                        .keys = {.epsilon = "layer_norm_eps"},
                                        .norm_of = [](const Weights& w, std::int64_t width, double epsilon) {
                                          return Norm::layer(w, width, epsilon);
                                        }});
  l.query_key_value_bias = c.flag_or("use_qkv_bias", false);
  const StableLm model{l, c.number_or("hidden_dropout", 0, {0, 1}), c.flag_or("qk_layernorm", false),
                       c.flag_or("use_parallel_residual", false)};
  DecoderSpec spec = l.spec("stablelm");
  spec.block = [model](const Weights& w, Place place) { return model.block(w, place); };
  return spec;
}

const RegisterArchitecture stablelm(decoder_architecture({.model_type = "stablelm",
                                                          .dropout_keys = {"attention_dropout", "hidden_dropout"}},
                                                         "StableLm", read_stablelm));

}  // namespace

}  // namespace attune
