#pragma once

#include <span>

#include "attune/nn/cache/key_value_cache.h"
#include "attune/ops/attention.h"

namespace attune {

/// One layer's keys and values of some sequences.
struct CachedKeys {
  const KeyValueCache& cache;
  std::int64_t layer;
  std::span<const KeyValueCache::Handle> handles;
};

/// attention() over a cache: sequence i's queries are rows [queries.begin(i), queries.end(i)) of q and its keys those
/// that the cache holds of handles[i], its newest among them; the queries are aligned to their end. q: [q_tokens,
/// heads, head_dim], f32. Returns [q_tokens, heads, value_dim], the bits that attention() gives over the same keys as
/// one tensor. One sequence alone has the bits it has among others. No gradient, no dropout. Throws Error where shapes
/// do not fit.
Tensor attention_cached(const Tensor& q, const Offsets& queries, const CachedKeys& keys, const AttentionRule& rule);

}  // namespace attune
