#pragma once

#include "attune/models/decoder/decoder_model.h"
#include "attune/ops/activation.h"

namespace attune {

/// Llama's decoder (Touvron et al. 2023) as values, and what its many descendants change of them: RMSNorm before each
/// sublayer, rotary positions, a gated feed-forward network, grouped keys and values. A descendant's file calls read()
/// with its own defaults, sets what it does otherwise, and hands spec() to the registry.
struct LlamaFamily {
  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, layers = 32;
  AttentionSizes attention{.heads = 32, .kv_heads = 0, .head_dim = 0};  // 0: as many as heads; hidden_size / heads
  std::int64_t longest = 2048;  // max_position_embeddings where the config gives none: scaled rotary positions need it
  Activation activation = Activation::silu;
  RopeConfig rope = {};
  double epsilon = 1e-6, deviation = 0.02, attention_dropout = 0;
  std::vector<std::int64_t> eos_token_ids = {2};
  std::optional<std::int64_t> pad_token_id = {};
  bool tied = false;
  bool query_key_value_bias = false, output_bias = false, mlp_bias = false;

  /// Reads the keys that all of the family have; what stands in `defaults` holds where the config is silent.
  static LlamaFamily read(const ConfigReader& config, const LlamaFamily& defaults);

  /// A block under Llama's names. Throws nothing of its own: weights are accounted for when all are declared.
  Block block(const Weights& w, Place place) const;
  /// Of [hidden], with this family's epsilon.
  Norm norm(const Weights& w) const { return Norm::rms(w, hidden_size, epsilon); }
  DecoderSpec spec(const std::string& model_type) const;
};

}  // namespace attune
