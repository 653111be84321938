#pragma once

#include "attune/models/encoder_decoder/encoder_decoder_model.h"
#include "attune/ops/activation.h"

namespace attune {

/// The Transformer as fairseq has it (Vaswani et al. 2017; Lewis et al. 2020, "BART") as values, and what BART's kin
/// change of them. A relative's file calls read() with its own defaults and hands spec() to the registry.
struct BartFamily {
  struct StackSizes {
    std::int64_t layers = 12, heads = 16, feedforward = 4096;
    double layerdrop = 0;
  };

  // What the architecture is.
  NormOrder order = NormOrder::post;
  bool embedding_norm = false;  // of what goes into the blocks
  bool final_norm = false;      // of each stack's output
  bool logits_bias = true;      // "final_logits_bias" is added to the logits
  enum class Positions {
    learned,     // a table whose first two rows are no token's: fairseq counts from behind the padding token's id, 1
    sinusoidal,  // sines, then cosines; a file's own table is used where it holds one
  } position_table = Positions::learned;

  // What its config says, as defaults and as read.
  std::int64_t vocab_size = 50265, hidden_size = 1024, positions = 1024;
  StackSizes encoder = {}, decoder = {};
  Activation activation = Activation::gelu;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0, classifier_dropout = 0, deviation = 0.02;
  bool scale_embedding = false, tied = true;
  std::optional<std::int64_t> pad_token_id = 1, decoder_start_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {2};
  std::int64_t labels = 2;

  static BartFamily read(const ConfigReader& config, const BartFamily& defaults);

  EncoderDecoderSpec spec(const std::string& model_type) const;
  Block block(const Weights& w, Place place) const;
};

/// The classes that transformers has of a relative, and the keys of its dropout rates.
Architecture bart_family_architecture(const std::string& model_type, const std::string& class_prefix,
                                      EncoderDecoderSpec (*read)(const ConfigReader& config));

}  // namespace attune
