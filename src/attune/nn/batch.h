#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attune/base/random.h"
#include "attune/nn/cache/key_value_cache.h"
#include "attune/nn/cache/recurrent_states.h"
#include "attune/ops/dropout.h"
#include "attune/ops/rotary.h"
#include "attune/tensor/offsets.h"
#include "attune/tensor/tensor.h"

namespace attune {

class KeyMemory;  // memory/key_memory.h
struct Routing;   // feedforward/experts.h

/// What every forward takes: the tokens of all sequences one behind the other, and where each begins. Nothing is
/// padded.
struct Batch {
  Tensor ids;       // [tokens] I64
  Tensor type_ids;  // [tokens] I64: which of two texts a token is of; not defined: all 0, or as the model says
  Offsets offsets;
  Tensor positions;                    // [tokens] I64: from 0 in each sequence, or going on from the cache
  TokenPlaces places;                  // (example, position) of each token: what its random numbers depend on
  std::vector<std::int64_t> examples;  // of each sequence: the same, for attention's

  /// Set where sequences are the chunks of longer documents: which run of sequences is one document. Heads over
  /// sequences then give a row a document.
  std::optional<Offsets> documents;

  /// Set by a model with rotary positions: self-attention turns queries and keys by the one that its block names.
  std::vector<RotaryTable> rotary;

  /// Set in training: dropout is on, with these numbers.
  std::optional<RandomKey> dropout;
  /// Set in training where a loss looks at it: mixtures of experts leave here what their routers chose.
  std::shared_ptr<Routing> routing;
  /// Set in decoding: keys and values before these tokens, one handle a sequence.
  KeyValueCache* cache = nullptr;
  std::vector<KeyValueCache::Handle> handles;
  /// Set in decoding instead of a cache where the attention family keeps states.
  RecurrentStates* states = nullptr;

  /// How many tokens each sequence's request may come to, fixed when it started: what rope scaling that depends on
  /// length goes by. Empty: the sequences are whole.
  std::vector<std::int64_t> planned_lengths;

  /// Set in inference: a layer with kNN memory also looks up these keys and values of other texts.
  const KeyMemory* lookup = nullptr;
  /// Set to fill a memory: that layer adds its keys and values to it, each with its sequence's example as the document.
  KeyMemory* record = nullptr;

  std::int64_t tokens() const { return offsets.total(); }

  /// Of sequence s: as planned, or where nothing was, up to its last position; 0 (as in the first training) where it
  /// goes on from a cache without a plan, or has no token.
  std::int64_t planned_length(std::int64_t s) const;

  /// Dropout in training, keyed by `site` and each token's place; x itself otherwise. x: [tokens, ...]
  Tensor dropped(const Tensor& x, double rate, const RandomKey& site) const;
  /// The key of a named place; only of use where `dropout` is set.
  RandomKey site(std::string_view name) const { return dropout ? dropout->at(name) : RandomKey{}; }

  /// Sequences from their beginning. Examples are numbered from `first_example`.
  static Batch of(const std::vector<std::vector<std::int64_t>>& sequences, std::int64_t first_example = 0);
  /// With the example number of each sequence: training keeps them the same whatever the order of the batch.
  static Batch of(const std::vector<std::vector<std::int64_t>>& sequences, const std::vector<std::int64_t>& examples);
};

}  // namespace attune
