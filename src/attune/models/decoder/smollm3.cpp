// SmolLM3: Bakouch et al. 2025, "SmolLM3: smol, multilingual, long-context reasoner". Llama with layers that have no
// positions (Yang et al. 2025, "RoPE to NoPE and back again"). Weight names as published on Hugging Face
// (SmolLM3ForCausalLM).
#include <fmt/format.h>

#include "attune/models/decoder/llama_family.h"

namespace attune {

namespace {

/// "no_rope_layers", one number a layer: 1 where queries and keys turn, 0 where they do not.
std::vector<bool> read_turning_layers(const ConfigReader& c, std::int64_t layers) {
  const std::int64_t interval = c.integer_or("no_rope_layer_interval", 4, {.at_least = 1});
  std::vector<bool> turning;
  for (std::int64_t i = 0; i < layers; ++i) turning.push_back((i + 1) % interval != 0);
  if (!c.has("no_rope_layers")) return turning;
  const std::vector<double> given = c.numbers_or("no_rope_layers", {});
  if (static_cast<std::int64_t>(given.size()) != layers)
    c.reject("no_rope_layers", fmt::format("expected one number for each of the {} layers", layers));
  for (std::size_t i = 0; i < given.size(); ++i) turning[i] = given[i] != 0;
  return turning;
}

DecoderSpec read_smollm3(const ConfigReader& c) {
  LlamaFamily l = LlamaFamily::read(c, {.vocab_size = 128256,
                                        .hidden_size = 2048,
                                        .layers = 36,
                                        .attention = {.heads = 16, .kv_heads = 4, .head_dim = 0},
                                        .rope_defaults = {.longest = 32768, .theta = 2e6},
                                        .eos_token_ids = {128001},
                                        .pad_token_id = 128004,
                                        .tied = true});
  if (c.gives_null("pad_token_id")) l.pad_token_id = std::nullopt;
  l.query_key_value_bias = l.output_bias = c.flag_or("attention_bias", false);
  l.mlp_bias = c.flag_or("mlp_bias", false);
  const std::vector<bool> turning = read_turning_layers(c, l.layers);
  l.windows = read_qwen_windows(
      c, l.layers, [&](std::int64_t i) { return c.has("sliding_window") && !turning[static_cast<std::size_t>(i)]; });
  c.ignore({"max_window_layers"});  // from Qwen's configs; transformers does not read it
  DecoderSpec spec = l.spec("smollm3");
  spec.block = [=](const Weights& w, Place place) {
    Block block = l.block(w, place);
    if (!turning.at(static_cast<std::size_t>(place.layer))) block.attention.rotary = -1;
    return block;
  };
  return spec;
}

const RegisterArchitecture smollm3(
    decoder_architecture({.model_type = "smollm3", .dropout_keys = {"attention_dropout"}}, "SmolLM3", read_smollm3));

}  // namespace

}  // namespace attune
