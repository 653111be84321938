#include "attune/nn/cache/attention_cached.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/ops/attention_setting.h"

namespace attune {

Tensor attention_cached(const Tensor& q, const Offsets& queries, const CachedKeys& keys, const AttentionRule& rule) {
  const CacheShape& shape = keys.cache.shape();
  const auto count = static_cast<std::int64_t>(keys.handles.size());
  check(q.rank() == 3 && q.dtype() == DType::F32 && q.dim(2) == shape.head_dim && q.dim(1) % shape.kv_heads == 0,
        "attention_cached: q {} {} does not fit a cache of {} heads of {} f32 values", name_of(q.dtype()), q.shape(),
        shape.kv_heads, shape.head_dim);
  check(q.dim(2) <= 1 || q.stride(2) == 1, "attention_cached: the values of one head of {} are not adjacent",
        q.shape());
  check(queries.total() == q.dim(0) && queries.count() == count,
        "attention_cached: {} sequences of {} queries for {} handles and q {}", queries.count(), queries.total(), count,
        q.shape());
  check(rule.dropout.rate == 0, "attention_cached: dropout is for training, the cache for decoding");
  forbid_gradient("attention_cached", {q});

  std::vector<std::int64_t> lengths, first_positions, page_starts = {0};
  std::vector<const std::byte*> pages;
  for (std::int64_t i = 0; i < count; ++i) {
    const KeyValueCache::Handle handle = keys.handles[static_cast<std::size_t>(i)];
    const std::int64_t length = keys.cache.length(handle, keys.layer);
    lengths.push_back(length);
    first_positions.push_back(length - queries.length(i));
    for (std::int64_t page = 0; page * shape.page_tokens < length; ++page)
      pages.push_back(keys.cache.page(handle, keys.layer, page));
    page_starts.push_back(static_cast<std::int64_t>(pages.size()));
  }
  const Offsets key_offsets = Offsets::from_lengths(lengths);
  Tensor y = Tensor::empty({q.dim(0), q.dim(1), shape.value_dim});
  Tensor sums = Tensor::empty({q.dim(0), q.dim(1), 2});
  const AttentionSetting setting("attention_cached", {queries, key_offsets, first_positions}, rule, q, {});
  PreparedAttention<float> ready = setting.prepare<float>({0, q.dim(1)});
  kernels::AttentionProblem<float>& problem = ready.problem;
  problem.q = {q.data<float>(), q.dim(1), q.dim(2), q.stride(0), q.stride(1)};
  problem.k = {nullptr, shape.kv_heads, shape.head_dim, 0, 0};
  problem.v = {nullptr, shape.kv_heads, shape.value_dim, 0, 0};
  problem.pages = {keys.cache.layout(), pages, page_starts};
  kernels::attention(problem, {y.mutable_data<float>(), y.dim(1), y.dim(2), y.stride(0), y.stride(1)},
                     sums.mutable_data<float>());
  return y;
}

}  // namespace attune
