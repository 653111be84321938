#include "attune/nn/cache/key_value_cache.h"

#include <gtest/gtest.h>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/cache/attention_cached.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::same_bits;
using Handle = KeyValueCache::Handle;

constexpr std::int64_t heads = 4, kv_heads = 2, width = 20, value_width = 12;

KeyValueCache cache_of(std::int64_t page_tokens, std::int64_t layers = 1) {
  return KeyValueCache({.layers = layers,
                        .kv_heads = kv_heads,
                        .head_dim = width,
                        .value_dim = value_width,
                        .page_tokens = page_tokens});
}

/// A sequence's keys and values.
struct Rows {
  Tensor k, v;
  Rows(std::int64_t tokens, std::uint64_t seed)
      : k(random_tensor({tokens, kv_heads, width}, seed)),
        v(random_tensor({tokens, kv_heads, value_width}, seed + 1)) {}
  Rows part(std::int64_t begin, std::int64_t end) const {
    Rows some = *this;
    some.k = k.rows(begin, end), some.v = v.rows(begin, end);
    return some;
  }
};

void append(KeyValueCache& cache, Handle handle, const Rows& rows, std::int64_t layer = 0) {
  cache.append(layer, std::vector<Handle>{handle}, Offsets::single(rows.k.dim(0)), rows.k, rows.v);
}

Tensor attend(const KeyValueCache& cache, const std::vector<Handle>& handles, const Offsets& queries, const Tensor& q) {
  return attention_cached(q, queries, {cache, 0, handles}, {.mask = causal()});
}

Tensor attend_contiguous(const Tensor& q, const Rows& rows) {
  return attention(q, rows.k, rows.v, {Offsets::single(q.dim(0)), Offsets::single(rows.k.dim(0))}, {.mask = causal()});
}

TEST(KeyValueCache, AnyPageSizeGivesTheBitsOfContiguousKeys) {
  const std::int64_t n = 150;
  const Rows rows(n, 1);
  const Tensor q = random_tensor({9, heads, width}, 5);
  const Tensor expected = attend_contiguous(q, rows);
  for (std::int64_t page_tokens : {1, 7, 16, 64, 200}) {
    KeyValueCache cache = cache_of(page_tokens);
    const Handle handle = cache.add();
    for (std::int64_t i = 0; i < n; i += 25) append(cache, handle, rows.part(i, i + 25));
    EXPECT_EQ(cache.length(handle), n);
    EXPECT_TRUE(same_bits(attend(cache, {handle}, Offsets::single(9), q), expected)) << page_tokens;
  }
}

TEST(KeyValueCache, TokenByTokenHasTheBitsOfTheWholeSequence) {
  const std::int64_t n = 70;
  const Rows rows(n, 1);
  const Tensor q = random_tensor({n, heads, width}, 5), whole = attend_contiguous(q, rows);
  KeyValueCache cache = cache_of(16);
  const Handle handle = cache.add();
  for (std::int64_t i = 0; i < n; ++i) {
    append(cache, handle, rows.part(i, i + 1));
    EXPECT_TRUE(same_bits(attend(cache, {handle}, Offsets::single(1), q.rows(i, i + 1)), whole.rows(i, i + 1))) << i;
  }
}

TEST(KeyValueCache, EightSequencesTogetherHaveTheBitsOfEachAlone) {
  KeyValueCache cache = cache_of(16);
  std::vector<Handle> handles;
  std::vector<std::int64_t> lengths;  // a prompt of 5 queries among decoding rows, and a sequence without a query
  for (std::int64_t i = 0; i < 8; ++i) {
    handles.push_back(cache.add());
    append(cache, handles.back(), Rows(1 + 37 * i, 10 + 2 * static_cast<std::uint64_t>(i)));
    lengths.push_back(i == 3 ? 5 : i == 4 ? 0 : 1);
  }
  const Offsets queries = Offsets::from_lengths(lengths);
  const Tensor q = random_tensor({queries.total(), heads, width}, 5);
  const int threads = num_threads();
  for (int n : {1, 2, 3}) {
    set_num_threads(n);
    const Tensor together = attend(cache, handles, queries, q);
    for (std::int64_t i = 0; i < 8; ++i) {
      const std::int64_t begin = queries.begin(i), end = queries.end(i);
      EXPECT_TRUE(same_bits(
          attend(cache, {handles[static_cast<std::size_t>(i)]}, Offsets::single(end - begin), q.rows(begin, end)),
          together.rows(begin, end)));
    }
  }
  set_num_threads(threads);
}

TEST(KeyValueCache, ForkSharesPagesUntilOneOfThemWrites) {
  KeyValueCache cache = cache_of(16);
  const Rows prompt(40, 1), left(1, 3), right(30, 5);
  const Tensor q = random_tensor({1, heads, width}, 7);
  const Handle parent = cache.add();
  append(cache, parent, prompt);
  const std::int64_t page = cache.bytes() / 3;
  const Handle child = cache.fork(parent);
  EXPECT_EQ(cache.bytes(), 3 * page);
  append(cache, child, right);
  EXPECT_EQ(cache.bytes(), 3 * page + 3 * page);  // the half-full page's copy and two new ones
  append(cache, parent, left);
  EXPECT_EQ(cache.bytes(), 6 * page);

  KeyValueCache apart = cache_of(16);
  const Handle alone = apart.add();
  append(apart, alone, prompt);
  append(apart, alone, right);
  EXPECT_TRUE(same_bits(attend(cache, {child}, Offsets::single(1), q), attend(apart, {alone}, Offsets::single(1), q)));
  cache.drop(child);
  EXPECT_EQ(cache.bytes(), 3 * page);
  const Handle other = apart.add();
  append(apart, other, prompt);
  append(apart, other, left);
  EXPECT_TRUE(same_bits(attend(cache, {parent}, Offsets::single(1), q), attend(apart, {other}, Offsets::single(1), q)));
}

TEST(KeyValueCache, LayersAreApart) {
  KeyValueCache cache = cache_of(4, 2);
  const Handle handle = cache.add();
  const Rows first(6, 1), second(6, 3);
  const Tensor q = random_tensor({1, heads, width}, 7);
  append(cache, handle, first, 0);
  EXPECT_EQ(cache.length(handle, 0), 6);
  EXPECT_EQ(cache.length(handle, 1), 0);
  append(cache, handle, second, 1);
  const std::vector<Handle> handles = {handle};
  EXPECT_TRUE(same_bits(attention_cached(q, Offsets::single(1), {cache, 1, handles}, {.mask = causal()}),
                        attend_contiguous(q, second)));
  EXPECT_TRUE(same_bits(attention_cached(q, Offsets::single(1), {cache, 0, handles}, {.mask = causal()}),
                        attend_contiguous(q, first)));
}

TEST(KeyValueCache, DroppedHandlesAndWrongShapesAreNamed) {
  KeyValueCache cache = cache_of(4);
  const Handle handle = cache.add();
  append(cache, handle, Rows(3, 1));
  EXPECT_THROW(cache.append(0, std::vector<Handle>{handle, handle},
                            Offsets::from_lengths(std::vector<std::int64_t>{1, 1}), Rows(2, 1).k, Rows(2, 1).v),
               Error);
  EXPECT_THROW(append(cache, handle, Rows(3, 1), 1), Error);
  EXPECT_THROW(cache.append(0, std::vector<Handle>{handle}, Offsets::single(1), Tensor::zeros({1, 2, 3}),
                            Tensor::zeros({1, 2, 3})),
               Error);
  const Tensor q = Tensor::zeros({1, heads, width});
  EXPECT_THROW(attend(cache, {handle}, Offsets::single(1), require_gradient(q)), Error);
  EXPECT_THROW(attend(cache, {handle}, Offsets::single(2), q), Error);
  cache.drop(handle);
  EXPECT_THROW(cache.length(handle), Error);
  EXPECT_THROW(cache.fork(handle), Error);
  EXPECT_EQ(cache.sequences(), 0);
  EXPECT_THROW(KeyValueCache({.layers = 1, .kv_heads = 0, .head_dim = 4}), Error);
}

}  // namespace
}  // namespace attune
