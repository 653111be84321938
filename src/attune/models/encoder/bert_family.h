#pragma once

#include "attune/models/encoder/encoder_model.h"

namespace attune {

/// BERT's encoder (Devlin et al. 2019) as values, and what its many descendants change of them. A descendant's file
/// calls read() with its own defaults, sets what it does otherwise, and hands spec() to the registry.
struct BertFamily {
  /// What a layer's parts are called.
  struct Names {
    std::string query = "attention.self.query", key = "attention.self.key", value = "attention.self.value",
                output = "attention.output.dense", attention_norm = "attention.output.LayerNorm",
                up = "intermediate.dense", down = "output.dense", feedforward_norm = "output.LayerNorm";
  };

  std::int64_t vocab_size = 30522, hidden_size = 768, layers = 12, heads = 12, intermediate_size = 3072;
  std::int64_t positions = 512, types = 2;
  std::optional<std::int64_t> pad_token_id = 0;
  Activation activation = Activation::gelu;
  double hidden_dropout = 0.1, attention_dropout = 0.1, deviation = 0.02, epsilon = 1e-12;
  bool tied = true;
  bool query_key_value_bias = true;
  NormOrder order = NormOrder::post;
  Names names = {};

  /// Reads the keys that all of the family have; what stands in `defaults` holds where the config is silent. Throws
  /// Error for the keys that make a decoder of it.
  static BertFamily read(const ConfigReader& config, const BertFamily& defaults);

  std::int64_t head_dim() const { return hidden_size / heads; }
  Norm norm(const Weights& w, std::int64_t width) const { return Norm::layer(w, width, epsilon); }
  Block block(const Weights& layer, Place place) const;
  /// With BERT's embeddings and no head yet. Positions from the first row of a table; a file takes that back.
  EncoderSpec spec(const std::string& model_type, const std::string& base) const;

  /// dense, activation, norm, and the words' table: names "scope.dense", "scope.norm", "scope.decoder", and the bias
  /// "scope.bias" which, where the table is not the output's weight, is "scope.decoder.bias".
  HeadLayers masked_lm(const std::string& scope, const std::string& dense, const std::string& norm) const;
};

/// dense(first token), activation, output: BERT's pooler with a dropout behind it, and RoBERTa's classifier with one
/// before it, too.
HeadLayers classifier_of_pooler(const std::string& pooler, double dropout);
HeadLayers classifier_of_two_layers(Activation activation, double dropout);
/// One layer on each token, behind a dropout.
HeadLayers output_alone(const std::string& output, double dropout);

}  // namespace attune
