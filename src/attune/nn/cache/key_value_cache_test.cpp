#include "attune/nn/cache/key_value_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/cache/attention_cached.h"
#include "attune/ops/attention_masks.h"
#include "attune/tensor/convert.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::same_bits;
using Handle = KeyValueCache::Handle;

constexpr std::int64_t heads = 4, kv_heads = 2, width = 20, value_width = 12;

KeyValueCache cache_of(std::int64_t page_tokens, std::int64_t layers = 1, CacheFormat format = CacheFormat::f32) {
  return KeyValueCache({.layers = layers,
                        .kv_heads = kv_heads,
                        .head_dim = width,
                        .value_dim = value_width,
                        .page_tokens = page_tokens,
                        .format = format});
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
  for (std::int64_t page_tokens : {1, 7, 16, 64, 100, 128, 200, 256}) {
    KeyValueCache cache = cache_of(page_tokens);
    const Handle handle = cache.add();
    for (std::int64_t i = 0; i < n; i += 25) append(cache, handle, rows.part(i, i + 25));
    EXPECT_EQ(cache.length(handle), n);
    EXPECT_TRUE(same_bits(attend(cache, {handle}, Offsets::single(9), q), expected)) << page_tokens;
    EXPECT_TRUE(same_bits(attend(cache, {handle}, Offsets::single(1), q.rows(8, 9)), expected.rows(8, 9)))
        << page_tokens;
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
  const std::int64_t page = cache.layout().bytes();
  EXPECT_EQ(cache.bytes(), 3 * page);
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

TEST(KeyValueCache, ForksOfTheFirstTokensShareTheirPages) {
  const Rows prompt(150, 1), rest(30, 3);
  const Tensor q = random_tensor({30, heads, width}, 7);
  for (std::int64_t page_tokens : {16, 64}) {
    for (std::int64_t tokens : {0, 1, 64, 100, 150}) {
      KeyValueCache cache = cache_of(page_tokens), apart = cache_of(page_tokens);
      const Handle parent = cache.add(), alone = apart.add();
      append(cache, parent, prompt);
      const std::int64_t before = cache.bytes();
      const Handle child = cache.fork(parent, tokens);
      EXPECT_EQ(cache.bytes(), before);
      EXPECT_EQ(cache.length(child), tokens);
      append(cache, child, rest);
      append(apart, alone, prompt.part(0, tokens));
      append(apart, alone, rest);
      EXPECT_TRUE(
          same_bits(attend(cache, {child}, Offsets::single(30), q), attend(apart, {alone}, Offsets::single(30), q)));
      EXPECT_TRUE(same_bits(attend(cache, {parent}, Offsets::single(30), q), attend_contiguous(q, prompt)));
      EXPECT_LE(cache.bytes(), before + (30 / page_tokens + 2) * cache.layout().bytes());
    }
  }
  KeyValueCache cache = cache_of(16);
  const Handle parent = cache.add();
  append(cache, parent, prompt);
  EXPECT_THROW(cache.fork(parent, 151), Error);
  EXPECT_THROW(cache.fork(parent, -1), Error);
}

/// Decodes `n` tokens under a mask, forgetting what it hides; expects the bits of all keys. Returns the most memory.
std::int64_t decode_and_forget(std::int64_t page_tokens, std::int64_t n, const AttentionMask& mask) {
  const Rows rows(n, 1);
  const Tensor q = random_tensor({n, heads, width}, 5);
  const Tensor whole = attention(q, rows.k, rows.v, {Offsets::single(n), Offsets::single(n)}, {.mask = mask});
  KeyValueCache cache = cache_of(page_tokens);
  const std::vector<Handle> handles = {cache.add()};
  std::int64_t most = 0;
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t end = std::min(n, begin + (begin == 0 ? 40 : begin % 3 == 0 ? 5 : 1));
    append(cache, handles[0], rows.part(begin, end));
    EXPECT_TRUE(same_bits(
        attention_cached(q.rows(begin, end), Offsets::single(end - begin), {cache, 0, handles}, {.mask = mask}),
        whole.rows(begin, end)))
        << page_tokens << " " << begin;
    most = std::max(most, cache.bytes());
    cache.forget(0, handles, mask);
    begin = end;
  }
  return most;
}

TEST(KeyValueCache, AWindowKeepsItsPagesAloneAndTheBitsOfAll) {
  const AttentionMask window_of_50 = causal() & window(50, 0);
  for (std::int64_t page_tokens : {7, 16, 64, 128}) {
    const std::int64_t page = cache_of(page_tokens).layout().bytes();
    const std::int64_t needed = (50 + page_tokens - 1) / page_tokens + 2;
    EXPECT_LE(decode_and_forget(page_tokens, 500, window_of_50), needed * page);
    // With the first keys ("attention sinks") their page stays.
    EXPECT_LE(decode_and_forget(page_tokens, 500, causal() & (window(50, 0) | first_keys(4))), (needed + 1) * page);
    EXPECT_EQ(decode_and_forget(page_tokens, 300, causal()), (300 + page_tokens - 1) / page_tokens * page);
    EXPECT_EQ(decode_and_forget(page_tokens, 300, causal() & strided(50)),
              (300 + page_tokens - 1) / page_tokens * page);
  }
}

TEST(KeyValueCache, WhatAMaskHidesForGoodNoLaterQuerySees) {
  const std::vector<AttentionMask> masks = {causal(),
                                            causal() & window(9, 0),
                                            causal() & (window(9, 0) | first_keys(3)),
                                            causal() & dilated(4, 0, 3),
                                            causal() & longformer(9, 2),
                                            causal() & strided(7),
                                            causal() & prefix({5}),
                                            causal() & bigbird({.block = 8}),
                                            window(5, 2) & first_keys(20)};
  for (std::size_t m = 0; m < masks.size(); ++m)
    for (std::int64_t first = 0; first < 60; first += 5)
      for (std::int64_t begin = 0; begin < 60; begin += 4) {
        if (!masks[m].hides_for_good(0, first, {begin, begin + 4})) continue;
        const std::int64_t keys = 160;
        const AttentionMask ready = masks[m].compiled(std::vector<QuerySpan>{{0, 0, keys, keys}});
        for (std::int64_t query = first; query < keys; ++query)
          for (std::int64_t key = begin; key < begin + 4; ++key)
            ASSERT_FALSE(ready.sees(0, query, key, keys)) << m << " " << query << " " << key;
      }
  EXPECT_TRUE(masks[2].hides_for_good(0, 50, {4, 8}));
  EXPECT_FALSE(masks[2].hides_for_good(0, 50, {0, 4}));
  EXPECT_FALSE(masks[0].hides_for_good(0, 50, {0, 4}));
}

TEST(KeyValueCache, ForgottenTokensCannotBeSharedAsAPrefix) {
  KeyValueCache cache = cache_of(16);
  const std::vector<Handle> handles = {cache.add()};
  append(cache, handles[0], Rows(100, 1));
  EXPECT_FALSE(cache.has_forgotten(handles[0]));
  cache.forget(0, handles, causal() & window(20, 0));
  EXPECT_TRUE(cache.has_forgotten(handles[0]));
  EXPECT_EQ(cache.bytes(), 2 * cache.layout().bytes());
  EXPECT_THROW(cache.fork(handles[0], 90), Error);
  EXPECT_TRUE(cache.has_forgotten(cache.fork(handles[0])));
}

/// What a format makes of rows: the numbers themselves.
Tensor rounded(const Tensor& rows, CacheFormat format) {
  std::vector<float> values = rows.to_vector<float>();
  const auto n = static_cast<std::size_t>(rows.dim(2));
  for (std::size_t row = 0; row < values.size(); row += n) {
    float largest = 0;
    for (std::size_t c = row; c < row + n; ++c) largest = std::max(largest, std::abs(values[c]));
    for (std::size_t c = row; c < row + n; ++c)
      values[c] = format == CacheFormat::f16 ? to_float(to_half(values[c]))
                                             : std::nearbyint(values[c] * (127 / largest)) * (largest / 127);
  }
  return Tensor::from<float>(rows.shape(), values);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(static_cast<double>(x[i]) - y[i]));
  return most;
}

TEST(KeyValueCache, NarrowFormatsAttendToTheRoundedRows) {
  const std::int64_t n = 150;
  Rows rows(n, 1), near = rows;
  const Tensor q = random_tensor({40, heads, width}, 5), exact = attend_contiguous(q, rows);
  for (CacheFormat format : {CacheFormat::f16, CacheFormat::int8}) {
    near.k = rounded(rows.k, format), near.v = rounded(rows.v, format);
    const Tensor expected = attend_contiguous(q, near);
    std::optional<Tensor> first;
    for (std::int64_t page_tokens : {7, 16, 64, 192}) {
      KeyValueCache cache = cache_of(page_tokens, 1, format);
      const Handle handle = cache.add();
      for (std::int64_t i = 0; i < n; i += 25) append(cache, handle, rows.part(i, i + 25));
      const Tensor y = attend(cache, {handle}, Offsets::single(40), q);
      // Of f16 the very bits; whole numbers meet their scale behind the products.
      EXPECT_TRUE(format == CacheFormat::int8 || same_bits(y, expected));
      EXPECT_LT(largest_difference(y, expected), 2e-6);
      if (!first) first = y;
      EXPECT_TRUE(same_bits(y, *first)) << page_tokens;  // whatever the pages
      for (std::int64_t i : {0, 17, 39})                 // and however many queries come together
        EXPECT_TRUE(
            same_bits(attend(cache, {handle}, Offsets::single(40 - i), q.rows(i, 40)).rows(0, 1), y.rows(i, i + 1)));
      EXPECT_TRUE(same_bits(attend(cache, {handle}, Offsets::single(1), q.rows(39, 40)), y.rows(39, 40)));
    }
    EXPECT_LT(largest_difference(*first, exact), format == CacheFormat::f16 ? 1e-3 : 2e-2);
  }
}

TEST(KeyValueCache, NarrowFormatsTakeLess) {
  auto bytes = [](CacheFormat format) {
    return KeyValueCache({.layers = 1, .kv_heads = 2, .head_dim = 64, .format = format}).layout().bytes();
  };
  EXPECT_EQ(bytes(CacheFormat::f32), 2 * 64 * 2 * 64 * 4);
  EXPECT_EQ(bytes(CacheFormat::f16), 2 * 64 * 2 * 64 * 2);
  EXPECT_EQ(bytes(CacheFormat::int8), 2 * 64 * 2 * (64 + 4));
}

TEST(KeyValueCache, NarrowFormatsMeetExtremeNumbers) {
  for (CacheFormat format : {CacheFormat::f16, CacheFormat::int8}) {
    KeyValueCache cache = cache_of(64, 1, format);
    const Handle handle = cache.add();
    Rows rows(3, 1);
    std::vector<float> v = rows.v.to_vector<float>();
    const std::size_t row = kv_heads * value_width;
    for (std::size_t c = 0; c < row; ++c) v[c] = 1e5f, v[row + c] = 0, v[2 * row + c] = NAN;
    rows.v = Tensor::from<float>(rows.v.shape(), v);
    append(cache, handle, rows);
    const Tensor q = random_tensor({3, heads, width}, 5);
    const std::vector<float> y = attend(cache, {handle}, Offsets::single(3), q).to_vector<float>();
    EXPECT_NEAR(y[0], format == CacheFormat::f16 ? 65504 : 1e5, 0.01);  // the largest half
    EXPECT_TRUE(std::isfinite(y[heads * value_width]));                 // a row of zeros; NaN is hidden from it
    EXPECT_TRUE(std::isnan(y[2 * heads * value_width]));
  }
}

// Few queries go through the heads side by side, in pieces that depend on the threads and on what else there is.
TEST(KeyValueCache, HowHeadsAreCutAmongThreadsChangesNoBit) {
  const std::int64_t n = 200, many = 12;
  const Tensor k = random_tensor({n, many, width}, 1), v = random_tensor({n, many, width}, 2);
  const Tensor q = random_tensor({3, 2 * many, width}, 3);
  for (CacheFormat format : {CacheFormat::f32, CacheFormat::f16, CacheFormat::int8}) {
    KeyValueCache cache({.layers = 1, .kv_heads = many, .head_dim = width, .format = format});
    std::vector<Handle> handles;
    for (int i = 0; i < 3; ++i) {
      handles.push_back(cache.add());
      cache.append(0, std::span(&handles.back(), 1), Offsets::single(n - i), k.rows(0, n - i), v.rows(0, n - i));
    }
    const int threads = num_threads();
    std::optional<Tensor> first;
    for (int now : {1, 2, 3, 7}) {
      set_num_threads(now);
      const Tensor y = attention_cached(q, Offsets::from_lengths(std::vector<std::int64_t>{1, 1, 1}),
                                        {cache, 0, handles}, {.mask = causal()});
      if (!first) first = y;
      EXPECT_TRUE(same_bits(y, *first)) << now;
      if (format == CacheFormat::f32) {
        const Tensor alone = attention(q.rows(1, 2), k.rows(0, n - 1), v.rows(0, n - 1),
                                       {Offsets::single(1), Offsets::single(n - 1)}, {.mask = causal()});
        EXPECT_TRUE(same_bits(y.rows(1, 2), alone));
      }
    }
    set_num_threads(threads);
  }
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
