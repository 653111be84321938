#pragma once

#include <span>
#include <vector>

#include "attune/checkpoint/safetensors.h"
#include "attune/models/objective.h"

namespace attune {

struct ForwardOptions {
  bool hidden_states = false;
  bool attentions = false;
  bool gradients = false;  // needs labels and a trainable model
};

/// Throws Error where the model cannot read the example: an id beyond its vocabulary, too many tokens, or decoder_ids
/// for a model that has no decoder beside an encoder.
void check_example(const ModelFacts& facts, const Example& example);

/// The model as a function, for comparing with any other program. All examples are one ragged batch. Returns, f32, I
/// the example's number from 0: I/logits (where the model has a head), I/last_hidden_state, I/hidden_states/L,
/// I/attentions/L [heads, queries, keys] (for encoder-decoders I/encoder_hidden_states/L, I/decoder_hidden_states/L,
/// ...); with labels `loss` (shape []), the mean over all labelled positions, and gradient/<name in the file read> in
/// the file's shape.
std::vector<NamedTensor> forward_examples(const Model& model, std::span<const Example> examples,
                                          const ForwardOptions& options);

}  // namespace attune
