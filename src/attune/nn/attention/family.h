#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/nn/attention/multi_head.h"

namespace attune {

/// What stands between a multi-head attention's projections: from the queries, keys and values of all tokens to each
/// token's mixture of values. MultiHead without one uses attention() and its rule: exact attention, whatever the mask.
/// A family is another answer to attention's quadratic cost (low-rank, linear, recurrent, retrieved memory).
class AttentionFamily {
 public:
  virtual ~AttentionFamily() = default;

  struct Input {
    Tensor q, k, v;                    // [tokens, heads, head_dim], [tokens, kv_heads, head_dim] twice; on the tape
    Tensor x;                          // [tokens, hidden]: what they were projected from, for gates of the family's own
    const Batch& batch;                // sequences, positions, examples; no family looks at its ids
    Place place;                       // for random numbers
    AttentionRule rule;                // the block's: mask and scale, and dropout in training
    const MultiHead* heads = nullptr;  // whose projections made q, k and v
  };
  /// Returns [tokens, heads, head_dim]. Sequences do not see each other; each has the bits that it has alone.
  virtual Tensor mix(const Input& in) const = 0;
  /// In decoding mix() goes on from batch.states, whose size does not grow with the sequence: no cache is needed.
  virtual bool keeps_states() const { return false; }
};

/// Where a family is to be used.
struct FamilyUse {
  bool causal = true;  // a decoder: no token sees a later one
  AttentionSizes sizes = {};
  std::int64_t hidden_size = 0;
  std::int64_t longest = 0;            // tokens in a sequence, for families with a table of that length; 0: not bounded
  std::int64_t layer = 0, layers = 1;  // which of how many, for families that work at one alone
};

class RecurrentMemory;  // recurrent_memory.h

/// What a family gives to a MultiHead: another rule, or another mixer, or both.
struct FamilyParts {
  AttentionRule rule;
  std::shared_ptr<const AttentionFamily> mixer = {};
  bool mixer_takes_scores = false;  // score changes that a position method adds to the rule are of use to it
  /// Given with layer 0's parts: the model runs its whole stack of blocks through it, segment by segment.
  std::shared_ptr<const RecurrentMemory> recurrence = {};
};

/// One row of the registry. A family's file registers itself.
struct FamilyEntry {
  std::string name;        // config's "attention": {"family": "linformer", ...}
  std::string paper;       // "Wang et al. 2020, Linformer"
  bool in_decoder = true;  // can be causal
  bool in_encoder = true;
  bool own_positions = false;  // has a position method of its own: a model gives it none
  bool writes_text = true;     // a decoder goes on token by token, from a cache or from states
  /// Reads the family's own keys of the config's "attention" object and declares its weights under `w`.
  std::function<FamilyParts(const ConfigReader& config, const FamilyUse& use, const Weights& w)> build;
};

struct RegisterFamily {
  explicit RegisterFamily(FamilyEntry entry);
};

/// By name.
const std::vector<FamilyEntry>& attention_families();

/// The family that `config` names ("full" where it names none). Throws Error, naming those there are, where it is
/// unknown or cannot be used so.
const FamilyEntry& named_family(const ConfigReader& config, bool causal);

/// Builds the family that `config` names. Throws Error as named_family() does, and for keys out of range.
FamilyParts build_family(const ConfigReader& config, const FamilyUse& use, const Weights& w);

}  // namespace attune
