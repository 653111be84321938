#pragma once

#include <cstdint>
#include <string>

namespace attune::workflows {

/// The classifier that the clinical workflow trains from scratch, and how long: about four minutes on two cores with
/// the bundled documents.
struct ClinicalModel {
  // ---- Sizes, in config.json's names ----
  std::int64_t hidden_size = 128;
  std::int64_t num_hidden_layers = 2;
  std::int64_t num_attention_heads = 4;
  std::int64_t intermediate_size = 256;
  std::int64_t max_position_embeddings = 512;  // tokens of a chunk; longer documents are read in several
  double initializer_range = 0.06;  // near 1 / sqrt(hidden_size): at BERT's 0.02 so small a model hardly starts
  std::string tokenizer =
      "bpe";  // byte-level: it keeps line ends and case, which say what is a heading and what a quotation
  std::int64_t vocab_size = 6000;
  std::string classifier_pooling = "mean";  // of a chunk's hidden states: "cls", "mean" or "max"

  // ---- Training ----
  /// Of masked-token prediction on the training texts; 0: none. With so few texts it did not help (docs/classify.md).
  double pretraining_epochs = 0;
  double pretraining_learning_rate = 1e-3;
  double epochs = 4;
  double learning_rate = 1e-3;
  double dropout = 0.1;
  double label_smoothing = 0.05;
  double weight_decay = 0.05;
  std::int64_t batch_tokens = 4096;
  std::int64_t patience = 3;  // epochs without a better macro-F1 on validation documents before training ends
};

}  // namespace attune::workflows
