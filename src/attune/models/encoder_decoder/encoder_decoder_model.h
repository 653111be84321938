#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attune/models/architecture.h"
#include "attune/nn/embedding.h"

namespace attune {

/// What an encoder-decoder's published files call its parts. "model.encoder.layers.0...": base "model".
struct EncoderDecoderNames {
  std::string base = "model";            // of all but the heads; empty: none
  std::string other_base = "";           // some files say this in place of the base
  std::string norm = "layer_norm";       // of each stack's output
  std::vector<std::string> unused = {};  // name endings that files hold and the model does not use
};

/// What stands on a decoder's final states.
struct EncoderDecoderHeads {
  bool logits_bias = false;       // "final_logits_bias", a constant of the file
  double output_scale = 1;        // of the states, before the output layer
  std::int64_t labels = 3;        // of a classifier
  double classifier_dropout = 0;  // before and behind its first layer
  double deviation = 0.02;        // of its new weights
};

/// An encoder-decoder as values: its file reads config.json into this, and EncoderDecoderModel is built from it.
struct EncoderDecoderSpec {
  std::string model_type;
  EncoderDecoderNames names = {};
  std::int64_t vocab_size = 0, hidden_size = 0, layers = 0;  // layers: of the decoder
  AttentionSizes decoder_attention = {};                     // of its blocks' self-attention
  double deviation = 0.02;                                   // of new embeddings
  std::optional<std::int64_t> longest = {}, pad_token_id = {}, decoder_start_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {};
  bool begins_with_last_label = false;  // ModelFacts has the same
  bool padding_learns = false;          // look-ups of the padding token give its row a gradient
  bool encoder_alone = false;           // there is no decoder

  /// One table of words for both stacks and the output layer; else three.
  bool tied = true;
  double embedding_scale = 1;
  /// Of a stack; its weights are declared under the stack. None: the identity, nothing added.
  std::function<Norm(const Weights&stack)> norm = {}, embedding_norm = {};
  std::function<std::function<Tensor(const Batch&)>(const Weights& stack)> positions = {};
  /// All of a stack's blocks: the first may hold what the others share.
  std::function<std::vector<Block>(const Weights& stack, Stack which)> blocks;
  double encoder_layerdrop = 0,
         decoder_layerdrop = 0;  // how often a training step leaves a block out (Fan et al. 2020)
  double dropout = 0;            // of what goes into the blocks
  bool drops_output = false;     // and of what a stack gives
  EncoderDecoderHeads heads = {};
};

/// Two stacks, the second with cross-attention to what the first gives (Vaswani et al. 2017). Of tied tables a file may
/// hold any under its own name; one that differs from the others is used as it is (transformers 5 unties such files,
/// whatever their config says).
class EncoderDecoderModel : public Model {
 public:
  EncoderDecoderModel(EncoderDecoderSpec spec, HeadKind head, WeightSource source);

  const ModelFacts& facts() const override { return facts_; }
  Memory encode(const Batch& batch, Observer* observer) const override;
  Tensor forward(const Batch& batch, const Memory& memory, Observer* observer) const override;
  /// Of a classifier: the decoder reads what the encoder does, shifted by one. Of an encoder alone: its states.
  Tensor forward(const Batch& batch, Observer* observer) const override;
  const std::vector<Block>& decoding_blocks() const override { return decoder_.blocks; }

 private:
  struct StackParts {
    Embedding words;
    std::function<Tensor(const Batch&)> positions;
    Norm embedding_norm, norm;
    std::vector<Block> blocks;
  };
  StackParts build(const Weights& stack, const Embedding& shared, Stack which) const;
  /// Where the file holds other words than the shared ones under w's name.
  bool has_own_words(const Weights& w, const Embedding& shared) const;
  bool left_out(const Block& block, const Batch& batch) const;
  Tensor run_blocks(const StackParts& parts, Tensor x, const Batch& batch, Observer* observer,
                    const Memory* memory) const;
  Tensor states(Stack which, const Batch& batch, Observer* observer, const Memory* memory) const;
  Batch shifted_right(const Batch& batch) const;
  void add_head(const Weights& root, const Embedding& shared, HeadKind head);

  EncoderDecoderSpec spec_;
  ModelFacts facts_;
  StackParts encoder_, decoder_;
};

/// How an architecture's file registers an encoder-decoder; `read` is given the config of a model with this head.
///
///   const RegisterArchitecture bart(encoder_decoder_architecture(
///       {.model_type = "bart", .classes = {{"BartModel", HeadKind::none}, ...}, .dropout_keys = {...}}, read_bart));
///
/// A class whose name ends in "EncoderModel" is the encoder alone.
Architecture encoder_decoder_architecture(Architecture base, EncoderDecoderSpec (*read)(const ConfigReader& config));

/// Keys of config.json by which older files say how to write: those of generation_config.json, no matter for a model.
void ignore_generation_keys(const ConfigReader& config);

}  // namespace attune
