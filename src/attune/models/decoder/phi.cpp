// Phi-1, 1.5 and 2: Gunasekar et al. 2023, "Textbooks are all you need". Feed-forward network beside attention, both by
// one norm; a part of each head turns; biases everywhere, the head's too. Weight names as published on Hugging Face
// (PhiForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

struct Phi {
  LlamaFamily l;
  double residual_dropout;
  bool normed_heads;

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.deviation = l.deviation};
    const Weights self = w / "self_attn", mlp = w / "mlp";
    const std::int64_t hidden = l.hidden_size, inner = l.intermediate_size, queries = l.attention.query_width();
    Block block{.attention = {.query = Linear(self / "q_proj", hidden, queries, dense),
                              .key = Linear(self / "k_proj", hidden, l.attention.kv_width(), dense),
                              .value = Linear(self / "v_proj", hidden, l.attention.kv_width(), dense),
                              .output = Linear(self / "dense", queries, hidden, dense),
                              .sizes = l.attention,
                              .rule = {.mask = causal()},
                              .dropout = l.attention_dropout},
                .attention_norm = l.norm(w / "input_layernorm"),
                .feedforward = {.up = Linear(mlp / "fc1", hidden, inner, dense),
                                .down = Linear(mlp / "fc2", inner, hidden, dense),
                                .activation = l.activation},
                .order = NormOrder::pre,
                .feedforward_reads = FeedForwardInput::beside_same_norm,
                .dropout = residual_dropout,
                .place = place};
    if (normed_heads) {
      block.attention.query_norm = l.norm(self / "q_layernorm", l.attention.head_dim);
      block.attention.key_norm = l.norm(self / "k_layernorm", l.attention.head_dim);
    }
    return block;
  }
};

DecoderSpec read_phi(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 51200,
                                        .hidden_size = 2048,
                                        .intermediate_size = 8192,
                                        .layers = 24,
                                        .activation = Activation::gelu_tanh,
                                        .rope_defaults = {.share = 0.5},
                                        .epsilon = 1e-5,
                                        .keys = {.epsilon = "layer_norm_eps"},
                                        .norm_of = [](const Weights& w, std::int64_t width, double epsilon) {
                                          return Norm::layer(w, width, epsilon);
                                        }});
  const Phi model{l, c.number_or("resid_pdrop", 0, {0, 1}), c.flag_or("qk_layernorm", false)};
  DecoderSpec spec = l.spec("phi");
  spec.names.norm = "final_layernorm";
  spec.block = [model](const Weights& w, Place place) { return model.block(w, place); };
  spec.embedding_dropout = c.number_or("embd_pdrop", 0, {0, 1});
  spec.head.bias = true;
  return spec;
}

const RegisterArchitecture phi(decoder_architecture(
    {.model_type = "phi", .dropout_keys = {"attention_dropout", "resid_pdrop", "embd_pdrop"}}, "Phi", read_phi));

}  // namespace

}  // namespace attune
