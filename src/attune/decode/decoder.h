#pragma once

#include <span>
#include <vector>

#include "attune/models/model.h"

namespace attune {

/// How a decoder keeps keys and values.
struct DecoderCache {
  CacheFormat format = CacheFormat::f32;
  std::int64_t page_tokens = 64;  // small where sequences fork often, because a fork copies its last page
};

/// A model in decoding: the caches of all sequences that are being written, and one forward for all of them together.
/// With an f32 cache a sequence's logits have the bits that a forward of its whole text alone gives, whatever else is
/// decoded beside it and whoever shares its beginning. Families of attention that keep states
/// (nn/cache/recurrent_states.h) give it up to rounding, and the bits that the same steps alone give.
class Decoder {
 public:
  /// A sequence's place in the caches.
  struct Sequence {
    KeyValueCache::Handle own = -1;
    KeyValueCache::Handle memory = -1;  // of what the encoder read
    std::int64_t planned = 0;           // Batch::planned_lengths
  };

  /// Throws Error where the model does not write text. It must outlive the decoder.
  explicit Decoder(const Model& model, const DecoderCache& cache = {});

  /// A sequence without tokens of a causal model. `planned`: how many tokens it may come to, for models whose rope
  /// scaling depends on length; 0: no more than it was first trained with.
  Sequence begin(std::int64_t planned = 0);
  /// A prompt, and how many tokens it may come to with what follows.
  struct Prompt {
    std::vector<std::int64_t> ids;
    std::int64_t planned = 0;
  };
  /// A sequence that has read some of its prompt's first tokens; `left`: those for its first step(), at least one.
  struct Begun {
    Sequence sequence;
    std::vector<std::int64_t> left;
  };
  /// Sequences of a causal model, one for each prompt. What a prompt begins with, a page or more, in common with
  /// another one or with a sequence that is being decoded is read once, and its pages are shared. Throws Error where a
  /// prompt is empty.
  std::vector<Begun> begin(const std::vector<Prompt>& prompts);
  /// Encodes the sources in one batch, and begins a sequence for each. Throws Error on an empty source.
  std::vector<Sequence> begin(const std::vector<std::vector<std::int64_t>>& sources);
  Sequence fork(const Sequence& parent);
  void drop(const Sequence& sequence);

  /// Adds tokens[i], at least one, to sequences[i]. Returns the logits of what comes next, [sequences, vocabulary].
  Tensor step(std::span<const Sequence> sequences, const std::vector<std::vector<std::int64_t>>& tokens);

  /// Adds each sequence's tokens of a batch, which gets its places. Returns their final hidden states, [tokens,
  /// hidden].
  Tensor read(Batch& batch, std::span<const Sequence> sequences);

  const Model& model() const { return model_; }
  /// Memory of the states of families that keep them; 0 where there is a cache.
  std::int64_t state_bytes() const { return states_.bytes(); }
  /// Memory of the keys and values that sequences have read, without the encoder's.
  std::int64_t cache_bytes() const { return cache_.bytes(); }
  std::int64_t length(const Sequence& sequence) const {
    return recurrent_ ? states_.length(sequence.own) : cache_.length(sequence.own);
  }

 private:
  /// The sequence with the longest beginning in common, and that beginning's tokens; none below a page.
  struct Shared {
    KeyValueCache::Handle handle = -1;
    std::int64_t tokens = 0;
  };
  Shared longest_shared(const Prompt& prompt) const;
  /// Whether sequences that may come to so many tokens have the same keys where their tokens are the same.
  bool fits_together(std::int64_t planned, std::int64_t other) const;
  Prompt& text_of(const Sequence& sequence);

  const Model& model_;
  KeyValueCache cache_;
  KeyValueCache memory_;
  RecurrentStates states_;  // in place of the cache, where `recurrent_`
  bool recurrent_;
  std::vector<Prompt> texts_;  // what each sequence of a causal model has read, by handle; no tokens: none
};

/// Throws Error, naming id and sequence, where a token is not of the model's vocabulary.
void check_tokens(const Model& model, const std::vector<std::vector<std::int64_t>>& sequences);

}  // namespace attune
