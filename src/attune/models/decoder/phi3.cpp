// Phi-3 and Phi-4-mini: Abdin et al. 2024, "Phi-3 technical report: a highly capable language model locally on your
// phone". Llama with one matrix for queries, keys and values and one for gate and up, and LongRoPE. Weight names as
// published on Hugging Face (Phi3ForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

struct Phi3 {
  LlamaFamily l;
  double residual_dropout;

  Block block(const Weights& w, Place place) const {
    const LinearOptions dense{.bias = false, .deviation = l.deviation};
    const Weights self = w / "self_attn", mlp = w / "mlp";
    const std::int64_t inner = l.intermediate_size, queries = l.attention.query_width();
    return {
        .attention = {.output = Linear(self / "o_proj", queries, l.hidden_size, dense),
                      .fused = Linear(self / "qkv_proj", l.hidden_size, queries + 2 * l.attention.kv_width(), dense),
                      .sizes = l.attention,
                      .rule = {.mask = causal_within(l.windows.at(static_cast<std::size_t>(place.layer)))},
                      .dropout = l.attention_dropout},
        .attention_norm = l.norm(w / "input_layernorm"),
        .feedforward = {.down = Linear(mlp / "down_proj", inner, l.hidden_size, dense),
                        .gate_and_up = Linear(mlp / "gate_up_proj", l.hidden_size, 2 * inner, dense),
                        .activation = l.activation},
        .feedforward_norm = l.norm(w / "post_attention_layernorm"),
        .order = NormOrder::pre,
        .dropout = residual_dropout,
        .place = place};
  }
};

DecoderSpec read_phi3(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 32064,
                                        .hidden_size = 3072,
                                        .intermediate_size = 8192,
                                        .rope_defaults = {.longest = 4096},
                                        .epsilon = 1e-5,
                                        .eos_token_ids = {32000},
                                        .pad_token_id = 32000});
  if (c.gives_null("pad_token_id")) l.pad_token_id = std::nullopt;
  l.windows.assign(static_cast<std::size_t>(l.layers), read_window(c, 0));
  const Phi3 model{l, c.number_or("resid_pdrop", 0, {0, 1})};
  // Some published configs say what the architecture has no other of.
  for (const char* key : {"attention_bias", "mlp_bias", "lm_head_bias"})
    if (c.flag_or(key, false)) c.reject(key, "Phi-3 has no biases");
  // Of the code that was published with the models: transformers' own does not read them.
  for (const char* key : {"full_attn_mod", "interpolate_factor"})
    if (c.integer_or(key, 1) != 1) c.reject(key, "expected 1");
  c.ignore({"original_max_position_embeddings"});  // read where the scaling is longrope
  DecoderSpec spec = l.spec("phi3");
  spec.block = [model](const Weights& w, Place place) { return model.block(w, place); };
  spec.embedding_dropout = c.number_or("embd_pdrop", 0, {0, 1});
  return spec;
}

const RegisterArchitecture phi3(decoder_architecture(
    {.model_type = "phi3", .dropout_keys = {"attention_dropout", "resid_pdrop", "embd_pdrop"}}, "Phi3", read_phi3));

}  // namespace

}  // namespace attune
