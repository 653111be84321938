#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/models/head.h"
#include "attune/nn/batch.h"
#include "attune/nn/block/block.h"
#include "attune/nn/observer.h"
#include "attune/nn/parameters.h"

namespace attune {

/// What the rest of the program needs to know of a model besides calling it.
struct ModelFacts {
  std::string model_type;  // "bert"
  HeadKind head = HeadKind::none;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t layers = 0;                   // of the longer stack
  std::optional<std::int64_t> longest = {};  // tokens in a sequence; none where positions have no table
  std::optional<std::int64_t> pad_token_id = {}, decoder_start_token_id = {};
  std::vector<std::int64_t> eos_token_ids = {};  // any of them ends a text
  AttentionSizes cached_attention = {};          // of the stack that decodes: what its cache holds
  /// A text's beginning has the same keys in every request, however long: sequences may share it in a cache.
  bool shares_keys = false;
  /// An encoder and a decoder: each has hidden states of its own.
  bool two_stacks = false;
  /// Its decoder's input begins with the last label, not with a token of its own: mBART's texts end with their
  /// language.
  bool begins_with_last_label = false;
  /// Of a model that answers: the token that ends the question, by which a text's tokens have types where none are
  /// given (types_by_question()); none: they are all of type 0.
  std::optional<std::int64_t> question_end = {};
  double router_loss = 0;  // how much of its experts' balance_loss() joins the loss of training
};

/// An encoder, a decoder, or an encoder with a decoder, and the head that its config names. Knows no strings.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelFacts& facts() const = 0;
  /// Final hidden states of the (decoding) stack. [tokens, hidden]
  virtual Tensor forward(const Batch& batch, Observer* observer = nullptr) const = 0;
  /// The same where the model has an encoder: `memory` is what encode() gave. Throws Error for a model without one.
  virtual Tensor forward(const Batch& batch, const Memory& memory, Observer* observer = nullptr) const;
  virtual Memory encode(const Batch& batch, Observer* observer = nullptr) const;
  /// The blocks of the stack that decodes with a cache; empty for an encoder.
  virtual const std::vector<Block>& decoding_blocks() const;
  /// Throws Error where there is none.
  const Head& head() const;

  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  /// Gradient checkpointing by block: a training step keeps each block's input alone (Chen et al. 2016). Not where a
  /// router loss looks into the blocks: then all is kept.
  void checkpoint_blocks(bool on) { checkpoint_blocks_ = on; }

 protected:
  Model(WeightSource source, NameRules rules) : parameters_(std::move(source), std::move(rules)) {}
  /// Runs the blocks in turn, handing each output to the observer as layer 1, 2, ...; the last one is left to the
  /// caller where a final norm follows.
  Tensor run(const std::vector<Block>& blocks, Tensor x, const Batch& batch, Observer* observer,
             const Memory* memory = nullptr, bool final_norm_follows = false) const;

  ParameterSet parameters_;
  std::unique_ptr<Head> head_;

 private:
  bool checkpoint_blocks_ = false;
};

}  // namespace attune
