#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attune/models/decoder/decoder_model.h"
#include "attune/nn/feedforward/experts.h"
#include "attune/ops/activation.h"

namespace attune {

/// What the keys of a config are called where descendants differ.
struct LlamaKeys {
  const char* epsilon = "rms_norm_eps";
  const char* activation = "hidden_act";
};

/// What the three matrices of a gated feed-forward network are called.
struct GatedNames {
  const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj";
};

/// A mixture of experts in a feed-forward network's place, as its config describes it.
struct ExpertSizes {
  std::int64_t experts = 8, chosen = 2, inner = 0;  // inner: values within one network
  ExpertWeights weights = ExpertWeights::of_chosen;
  GatedNames names = {};
};

/// Llama's decoder (Touvron et al. 2023) as values, and what its many descendants change of them: RMSNorm before each
/// sublayer, rotary positions, a gated feed-forward network, grouped keys and values. A descendant's file calls read()
/// with its own defaults, sets what it does otherwise, and hands spec() to the registry.
struct LlamaFamily {
  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, layers = 32;
  AttentionSizes attention{.heads = 32, .kv_heads = 0, .head_dim = 0};  // 0: as many as heads; hidden_size / heads
  Activation activation = Activation::silu;
  RopeDefaults rope_defaults = {};
  RopeConfig rope = {};
  double epsilon = 1e-6, deviation = 0.02, attention_dropout = 0;
  std::vector<std::int64_t> eos_token_ids = {2};
  std::optional<std::int64_t> pad_token_id = {};
  bool tied = false;
  bool query_key_value_bias = false, output_bias = false, mlp_bias = false;
  LlamaKeys keys = {};
  /// Scores are multiplied by it; not given: 1 / sqrt(head_dim).
  std::optional<double> score_scale = {};
  double score_cap = 0;                    // soft cap of the scores; 0: none
  std::vector<std::int64_t> windows = {};  // of each layer, 0: all that is before. Empty: all for all layers
  /// A norm over `width` values: RMSNorm if not given.
  std::function<Norm(const Weights& w, std::int64_t width, double epsilon)> norm_of = {};

  /// Reads the keys that all of the family have; what stands in `defaults` holds where the config is silent.
  static LlamaFamily read(const ConfigReader& config, const LlamaFamily& defaults);

  /// Of a block under Llama's names, for those who put a block together themselves. They throw nothing of their own:
  /// weights are accounted for when all are declared.
  MultiHead attention_of(const Weights& layer, Place place) const;
  FeedForward feedforward_of(const Weights& network, std::int64_t inner, const GatedNames& names = {}) const;
  /// Router "gate", networks "experts.0", "experts.1", ...
  Experts experts_of(const Weights& mixture, const ExpertSizes& sizes) const;
  /// How transformers 5 keeps them in memory, and saves them where it is told to: all experts' matrices in two tensors
  /// under "mlp", whatever their published names.
  static void add_stacked_experts(DecoderNames& names, const std::string& scope, const GatedNames& networks);
  Norm norm(const Weights& w, std::int64_t width) const;
  Norm norm(const Weights& w) const { return norm(w, hidden_size); }

  Block block(const Weights& layer, Place place) const;
  DecoderSpec spec(const std::string& model_type) const;
};

/// Every layer's window: `window` where the config's `layer_types` say "sliding_attention", 0 where they say
/// "full_attention", or by `slides(layer)` where it has none. Throws Error where there are not as many as layers.
std::vector<std::int64_t> read_windows(const ConfigReader& config, std::int64_t layers, std::int64_t window,
                                       const std::function<bool(std::int64_t layer)>& slides);

/// `sliding_window` of a model whose layers all have it; 0 where it is null.
std::int64_t read_window(const ConfigReader& config, std::int64_t otherwise);

/// `use_sliding_window`, `sliding_window` and `layer_types` of Qwen's models: `slides(layer)` is asked where windows
/// are used and no layer_types say it.
std::vector<std::int64_t> read_qwen_windows(const ConfigReader& config, std::int64_t layers,
                                            const std::function<bool(std::int64_t layer)>& slides);

/// What of the routers' balance joins the loss: `router_aux_loss_coef`, where `output_router_logits` says so.
double read_router_loss(const ConfigReader& config);

}  // namespace attune
