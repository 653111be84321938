#pragma once

#include <span>
#include <vector>

#include "attune/models/model.h"

namespace attune {

/// A model in decoding: the caches of all sequences that are being written, and one forward for all of them together.
/// A sequence's logits have the bits that a forward of its whole text alone gives, whatever else is decoded beside it.
/// Families of attention that keep states (nn/cache/recurrent_states.h) give it up to rounding, and the bits that the
/// same steps alone give.
class Decoder {
 public:
  /// A sequence's place in the caches.
  struct Sequence {
    KeyValueCache::Handle own = -1;
    KeyValueCache::Handle memory = -1;  // of what the encoder read
    std::int64_t planned = 0;           // Batch::planned_lengths
  };

  /// `page_tokens` of the cache: small where sequences fork often, because a fork copies its last page. Throws Error
  /// where the model does not write text. The model must outlive the decoder.
  explicit Decoder(const Model& model, std::int64_t page_tokens = 64);

  /// A sequence without tokens of a causal model. `planned`: how many tokens it may come to, for models whose rope
  /// scaling depends on length; 0: no more than it was first trained with.
  Sequence begin(std::int64_t planned = 0);
  /// Encodes the sources in one batch, and begins a sequence for each. Throws Error on an empty source.
  std::vector<Sequence> begin(const std::vector<std::vector<std::int64_t>>& sources);
  Sequence fork(const Sequence& parent);
  void drop(const Sequence& sequence);

  /// Adds tokens[i], at least one, to sequences[i]. Returns the logits of what comes next, [sequences, vocabulary].
  Tensor step(std::span<const Sequence> sequences, const std::vector<std::vector<std::int64_t>>& tokens);

  const Model& model() const { return model_; }
  /// Memory of the states of families that keep them; 0 where there is a cache.
  std::int64_t state_bytes() const { return states_.bytes(); }
  std::int64_t length(const Sequence& sequence) const {
    return recurrent_ ? states_.length(sequence.own) : cache_.length(sequence.own);
  }

 private:
  const Model& model_;
  KeyValueCache cache_;
  KeyValueCache memory_;
  RecurrentStates states_;  // in place of the cache, where `recurrent_`
  bool recurrent_;
};

/// Throws Error, naming id and sequence, where a token is not of the model's vocabulary.
void check_tokens(const Model& model, const std::vector<std::vector<std::int64_t>>& sequences);

}  // namespace attune
