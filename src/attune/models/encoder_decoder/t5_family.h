#pragma once

#include "attune/models/encoder_decoder/encoder_decoder_model.h"
#include "attune/ops/activation.h"

namespace attune {

/// T5 as values (Raffel et al. 2020), and what its kin change of them: RMSNorm before each sublayer and on each stack's
/// output, no biases, scores that are not scaled and have a learned number for each head and bucket of distances. A
/// relative's file calls read() with its own defaults and hands spec() to the registry.
struct T5Family {
  bool table_in_each_block = false;  // of distances; else the first block's is for all of a stack
  bool scales_output = true;         // of the decoder, by 1 / sqrt(d_model), before the output layer

  std::int64_t vocab_size = 32128, d_model = 512, d_kv = 64, d_ff = 2048, heads = 8;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t buckets = 32, max_distance = 128;
  std::string feed_forward = "relu";  // "gated-gelu": feed_forward_proj
  Activation activation = Activation::relu;
  bool gated = false;
  double dropout = 0.1, classifier_dropout = 0, epsilon = 1e-6, factor = 1;
  std::optional<std::int64_t> pad_token_id = 0, decoder_start_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {1};
  std::int64_t labels = 2;

  static T5Family read(const ConfigReader& config, const T5Family& defaults);

  EncoderDecoderSpec spec(const std::string& model_type) const;
  std::vector<Block> blocks(const Weights& stack, Stack which) const;

 private:
  void read_feed_forward(const ConfigReader& config);
  MultiHead attention(const Weights& w) const;
  FeedForward feedforward(const Weights& w) const;
  Block block(const Weights& w, Place place) const;
};

/// The classes that transformers has of a relative, and the keys of its dropout rates.
Architecture t5_family_architecture(const std::string& model_type, const std::string& class_prefix,
                                    EncoderDecoderSpec (*read)(const ConfigReader& config));

}  // namespace attune
