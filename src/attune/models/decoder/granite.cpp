// Granite 3: IBM 2024, "Granite 3.0 language models". Llama with four multipliers: of the embeddings, of what joins the
// residual stream, of the scores, and a divisor of the logits. Weight names as published on Hugging Face
// (GraniteForCausalLM).
#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

DecoderSpec read_granite(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {});
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  l.mlp_bias = c.flag_or("mlp_bias", false);
  l.score_scale = c.number_or("attention_multiplier", 1);
  const double residual = c.number_or("residual_multiplier", 1);
  DecoderSpec spec = l.spec("granite");
  spec.block = [=](const Weights& w, Place place) {
    Block block = l.block(w, place);
    block.residual_scale = residual;
    return block;
  };
  spec.embedding_scale = c.number_or("embedding_multiplier", 1);
  spec.head.scale = 1 / c.number_or("logits_scaling", 1, {.above = 0});
  return spec;
}

const RegisterArchitecture granite(decoder_architecture({.model_type = "granite",
                                                         .classes = {{"GraniteModel", HeadKind::none},
                                                                     {"GraniteForCausalLM", HeadKind::causal_lm}},
                                                         .dropout_keys = {"attention_dropout"}},
                                                        "Granite", read_granite));

}  // namespace

}  // namespace attune
