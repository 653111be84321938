#include "attune/nn/attention/multi_head.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/cache/attention_cached.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/rotary.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

Tensor as_heads(const Tensor& x, std::int64_t heads, std::int64_t head_dim) {
  return reshape(x, {x.dim(0), heads, head_dim});  // [tokens, heads, head_dim]
}

void show(const Tensor& q, const Tensor& k, const AttentionSequences& sequences, const AttentionRule& rule, Place place,
          Observer* observer) {
  if (!observer || !observer->wants_attention(place.stack, place.layer)) return;
  NoGradient none;
  for (std::int64_t s = 0; s < sequences.queries.count(); ++s) {
    const WantedWeights wanted = observer->wanted_weights(place.stack, place.layer, s);
    const std::int64_t end = std::min(wanted.end, sequences.queries.length(s));
    const kernels::WeightRows rows = {s, std::min(wanted.begin, end), end, wanted.first_head, wanted.heads};
    observer->attention(place.stack, place.layer, s, attention_weights(q, k, sequences, rule, rows));
  }
}

}  // namespace

AttentionRule MultiHead::rule_for(const Batch& batch, Place place, std::string_view site) const {
  AttentionRule now = rule;
  if (batch.dropout && dropout > 0) now.dropout = {static_cast<float>(dropout), place.key(batch, site)};
  return now;
}

Tensor MultiHead::projected(const Linear& linear, const Tensor& x) const {
  return clip ? clamp(linear(x), *clip) : linear(x);
}

MultiHead::Projected MultiHead::split(const Tensor& all) const {
  const std::int64_t dim = sizes.head_dim, queries = sizes.query_width(), keys = queries + sizes.kv_width();
  if (fused_order == FusedOrder::side_by_side)
    return {as_heads(columns(all, 0, queries), sizes.heads, dim),
            as_heads(columns(all, queries, keys), sizes.kv_heads, dim),
            as_heads(columns(all, keys, keys + sizes.kv_width()), sizes.kv_heads, dim)};
  const std::int64_t group = sizes.heads / sizes.kv_heads;  // query heads of a key head
  const Tensor groups = reshape(all, {all.dim(0), sizes.kv_heads, (group + 2) * dim});
  const Tensor q = columns(groups, 0, group * dim);
  // With one query head a key head, or one key head in all, query heads lie evenly spaced.
  const bool even = group == 1 || sizes.kv_heads == 1;
  return {as_heads(even ? q : contiguous(q), sizes.heads, dim), columns(groups, group * dim, (group + 1) * dim),
          columns(groups, (group + 1) * dim, (group + 2) * dim)};
}

Tensor MultiHead::placed(const Tensor& heads, const Norm& norm, const Batch& batch) const {
  Tensor x = heads;
  if (!norm.identity()) {
    const bool each = norm.width() == sizes.head_dim;
    x = norm(each ? contiguous(x) : reshape(contiguous(x), {x.dim(0), x.dim(1) * x.dim(2)}));
    x = as_heads(x, heads.dim(1), sizes.head_dim);
  }
  return turned(x, batch);
}

Tensor MultiHead::turned(const Tensor& heads, const Batch& batch) const {
  if (rotary < 0 || batch.rotary.empty()) return heads;
  return attune::rotary(heads, batch.rotary.at(static_cast<std::size_t>(rotary)));
}

KeysAndValues MultiHead::keys_and_values(const Tensor& x, const Batch& batch) const {
  if (fused) {
    const Projected all = split(projected(*fused, x));
    return {placed(all.k, key_norm, batch), placed_values(all.v, batch)};
  }
  return {placed(as_heads(projected(key, x), sizes.kv_heads, sizes.head_dim), key_norm, batch),
          placed_values(as_heads(projected(value, x), sizes.kv_heads, sizes.head_dim), batch)};
}

Tensor MultiHead::self(const Tensor& x, const Batch& batch, Place place, Observer* observer) const {
  Tensor q, k, v;
  if (fused) {
    const Projected all = split(projected(*fused, x));
    q = placed(all.q, query_norm, batch), k = placed(all.k, key_norm, batch), v = placed_values(all.v, batch);
  } else {
    q = placed(as_heads(projected(query, x), sizes.heads, sizes.head_dim), query_norm, batch);
    const KeysAndValues seen = keys_and_values(x, batch);
    k = seen.k, v = seen.v;
  }
  if (family) {
    check(!batch.cache, "an attention family other than \"full\" is not decoded with a cache of keys and values");
    return join(family->mix({q, k, v, x, batch, place, rule_for(batch, place, "attention weights"), this}));
  }
  if (batch.cache) {
    batch.cache->append(place.layer, batch.handles, batch.offsets, k, v);
    const Tensor y = attention_cached(q, batch.offsets, {*batch.cache, place.layer, batch.handles}, rule);
    batch.cache->forget(place.layer, batch.handles, rule.mask);
    return join(y);
  }
  AttentionSequences sequences{batch.offsets, batch.offsets, {}, batch.examples};
  AttentionRule now = rule_for(batch, place, "attention weights");
  show(q, k, sequences, now, place, observer);
  return join(attention(q, k, v, sequences, now));
}

Tensor MultiHead::cross(const Tensor& x, const Batch& batch, const Memory& memory, Place place,
                        Observer* observer) const {
  Tensor q = as_heads(projected(query, x), sizes.heads, sizes.head_dim);
  if (memory.cache) return join(attention_cached(q, batch.offsets, {*memory.cache, place.layer, memory.handles}, rule));
  Tensor k = as_heads(projected(key, memory.states), sizes.kv_heads, sizes.head_dim);
  Tensor v = as_heads(projected(value, memory.states), sizes.kv_heads, sizes.head_dim);
  AttentionSequences sequences{batch.offsets, memory.offsets, {}, batch.examples};
  AttentionRule now = rule_for(batch, place, "cross attention weights");
  if (observer && observer->wants_cross_attention(place.layer)) {
    NoGradient none;
    for (std::int64_t s = 0; s < sequences.queries.count(); ++s)
      observer->cross_attention(place.layer, s,
                                attention_weights(q, k, sequences, now, {s, 0, sequences.queries.length(s)}));
  }
  return join(attention(q, k, v, sequences, now));
}

void MultiHead::remember(const Memory& memory, Place place) const {
  check(memory.cache != nullptr, "a memory is remembered in a cache: it has none");
  Tensor k = as_heads(projected(key, memory.states), sizes.kv_heads, sizes.head_dim);
  Tensor v = as_heads(projected(value, memory.states), sizes.kv_heads, sizes.head_dim);
  memory.cache->append(place.layer, memory.handles, memory.offsets, k, v);
}

Tensor MultiHead::join(const Tensor& heads) const {
  return output(reshape(heads, {heads.dim(0), sizes.query_width()}));
}

}  // namespace attune
