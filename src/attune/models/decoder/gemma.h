#pragma once

#include "attune/models/decoder/llama_family.h"

namespace attune {

/// What all of Gemma's models change of Llama (Gemma Team 2024, section 2): norms that multiply by 1 + weight, words'
/// vectors scaled by the root of their width, gates through GELU, heads wider than hidden / heads, tied weights.
LlamaFamily gemma_defaults();
/// Reads what they share. `keys` of the defaults say where they differ.
LlamaFamily read_gemma(const ConfigReader& config, const LlamaFamily& defaults);
DecoderSpec gemma_spec(const LlamaFamily& family, const std::string& model_type);

/// Gemma 2 and 3: every sublayer has a norm on its input and one on its output.
Block gemma2_block(const LlamaFamily& family, const Weights& layer, Place place);

}  // namespace attune
