#pragma once

#include <memory>
#include <optional>

#include "attune/nn/batch.h"
#include "attune/nn/linear.h"
#include "attune/nn/norm/norm.h"
#include "attune/nn/observer.h"
#include "attune/ops/attention.h"

namespace attune {

/// Sizes of one multi-head attention. Fewer kv_heads than heads is grouped-query attention (Ainslie et al. 2023).
struct AttentionSizes {
  std::int64_t heads = 1, kv_heads = 1, head_dim = 64;

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
};

/// Where in a model a block stands: for its random numbers, its cache and its observer.
struct Place {
  Stack stack = Stack::encoder;
  int layer = 0;  // from 0

  RandomKey key(const Batch& batch, std::string_view site) const {
    return batch.site(stack == Stack::encoder ? "encoder" : "decoder").at(static_cast<std::uint64_t>(layer)).at(site);
  }
};

/// What the queries of a cross-attention look at: another stack's output, and where its sequences begin. In decoding
/// its projected keys and values are kept in a cache of their own, one handle a decoded sequence.
struct Memory {
  Tensor states;  // [memory tokens, hidden]
  Offsets offsets;
  KeyValueCache* cache = nullptr;
  std::vector<KeyValueCache::Handle> handles = {};
};

class AttentionFamily;

struct KeysAndValues {
  Tensor k, v;
};

/// How one matrix for queries, keys and values orders its outputs.
enum class FusedOrder {
  side_by_side,  // [query heads | key heads | value heads] (GPT-2)
  by_key_head,   // for each key head its query heads, the key, the value (GPT-NeoX, Falcon)
};

/// Concat(head_1..head_h) W^O with head_i = attention(x W_i^Q, s W_i^K, s W_i^V) (Vaswani et al. 2017, section 3.2.2),
/// where s is x itself (self-attention) or a Memory (cross-attention).
struct MultiHead {
  Linear query = {}, key = {}, value = {}, output = {};
  /// One matrix for all three: then query, key, value are empty.
  std::optional<Linear> fused = {};
  FusedOrder fused_order = FusedOrder::side_by_side;
  /// Of queries and keys before they are turned: over each head's values (Qwen 3, and with weights of each head's own
  /// Cohere), or over all heads' together, as wide as the norms are (OLMo 2).
  Norm query_norm = {}, key_norm = {};
  /// What the projections give is brought within [-clip, clip], before norms and positions (MPT).
  std::optional<double> clip = {};
  int rotary = 0;              // which of Batch::rotary turns queries and keys; below 0: none
  bool rotary_values = false;  // and the values, too (RoFormer's rotary_value)
  AttentionSizes sizes;
  AttentionRule rule;  // mask and scale; dropout is added in training
  double dropout = 0;  // on the attention weights
  /// What stands in the place of attention() in self-attention; null: nothing. See family.h.
  std::shared_ptr<const AttentionFamily> family = {};

  /// x: [tokens, hidden]. Returns [tokens, hidden].
  Tensor self(const Tensor& x, const Batch& batch, Place place, Observer* observer) const;
  Tensor cross(const Tensor& x, const Batch& batch, const Memory& memory, Place place,
               Observer* observer = nullptr) const;
  /// Keys and values of self-attention, [tokens, kv_heads, head_dim], the keys normed and turned.
  KeysAndValues keys_and_values(const Tensor& x, const Batch& batch) const;
  /// Projects a memory's keys and values into its cache, once for all steps of a decoding.
  void remember(const Memory& memory, Place place) const;

 private:
  struct Projected {
    Tensor q, k, v;  // [tokens, heads or kv_heads, head_dim]
  };
  Tensor projected(const Linear& linear, const Tensor& x) const;
  Projected split(const Tensor& all) const;  // what `fused` gave, read in place where its order allows
  /// Queries or keys by their norm, then by their positions.
  Tensor placed(const Tensor& heads, const Norm& norm, const Batch& batch) const;
  Tensor turned(const Tensor& heads, const Batch& batch) const;
  Tensor placed_values(const Tensor& heads, const Batch& batch) const {
    return rotary_values ? turned(heads, batch) : heads;
  }
  AttentionRule rule_for(const Batch& batch, Place place, std::string_view site) const;
  Tensor join(const Tensor& heads) const;  // W^O on the heads side by side
};

}  // namespace attune
