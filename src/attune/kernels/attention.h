#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "attune/base/random.h"

namespace attune {

/// Which keys a query may attend to: a value made by the functions below. A query's place is its position among the
/// keys of its own sequence, so that a cache or a longer key side shifts nothing.
struct AttentionMask {
  enum class Kind { bidirectional, causal };
  Kind kind = Kind::bidirectional;

  /// How many of a sequence's `keys` the query at `position` sees: the first ones. It never falls as the position
  /// grows, which the kernels rely on; a mask that also hides early keys (a window) needs a second bound beside this
  /// one.
  std::int64_t visible(std::int64_t position, std::int64_t keys) const {
    return kind == Kind::causal ? std::clamp<std::int64_t>(position + 1, 0, keys) : keys;
  }
};

/// Every query sees every key of its sequence.
inline AttentionMask bidirectional() { return {}; }
/// A query sees its own position and those before it.
inline AttentionMask causal() { return {AttentionMask::Kind::causal}; }

/// Drops single attention weights with probability `rate` and divides the others by 1 - rate (Srivastava et al. 2014).
struct AttentionDropout {
  float rate = 0;
  RandomKey key = {};
};

/// All that changes what attention(q, k, v) computes besides its tensors.
struct AttentionRule {
  AttentionMask mask = {};
  std::optional<double> scale = {};  // of the scores; 1 / sqrt(head_dim) where not given
  AttentionDropout dropout = {};
};

namespace kernels {

/// Rows of heads, [tokens, heads, width], with any stride between tokens and between heads: columns of a fused
/// projection are seen without a copy. The `width` values of one head are adjacent.
template <class T>
struct HeadRows {
  T* data = nullptr;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;

  T* at(std::int64_t token, std::int64_t head) const { return data + token * token_stride + head * head_stride; }
};

/// Keys and values in a cache's pages of `page_tokens` rows each: sequence s has pages[starts[s] .. starts[s + 1]). A
/// page holds rows as the problem's k and v describe them, relative to the page's first value.
template <class T>
struct KeyPages {
  std::span<const T*const> k, v;
  std::span<const std::int64_t> starts;
  std::int64_t page_tokens = 0;  // 0: the keys are not paged
};

/// softmax(scale q k^T, masked) v for each sequence and head (Vaswani et al. 2017, equation 1). Query head h uses key
/// head h / (q.heads / k.heads) (Ainslie et al. 2023, "GQA").
template <class T>
struct AttentionProblem {
  HeadRows<const T> q, k, v;                           // k and v without data where there are pages
  std::span<const std::int64_t> query_starts;          // [sequences + 1]
  std::span<const std::int64_t> key_starts;            // [sequences + 1]
  std::span<const std::int64_t> first_positions = {};  // [sequences] of the first query among the keys
  std::span<const std::int64_t> examples = {};         // [sequences] for dropout
  AttentionMask mask = {};
  double scale = 1;
  AttentionDropout dropout = {};
  KeyPages<T> pages = {};

  std::int64_t sequences() const { return static_cast<std::int64_t>(query_starts.size()) - 1; }
  std::int64_t queries(std::int64_t s) const { return query_starts[at(s) + 1] - query_starts[at(s)]; }
  std::int64_t keys(std::int64_t s) const { return key_starts[at(s) + 1] - key_starts[at(s)]; }
  std::int64_t group() const { return q.heads / k.heads; }
  /// Number of leading keys that query i of sequence s sees.
  std::int64_t visible(std::int64_t s, std::int64_t i) const {
    return mask.visible(first_positions[at(s)] + i, keys(s));
  }
  const T* query(std::int64_t s, std::int64_t i, std::int64_t head) const {
    return q.at(query_starts[at(s)] + i, head);
  }
  const T* key(std::int64_t s, std::int64_t j, std::int64_t kv_head) const { return row(k, pages.k, s, j, kv_head); }
  const T* value(std::int64_t s, std::int64_t j, std::int64_t kv_head) const { return row(v, pages.v, s, j, kv_head); }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  const T* row(const HeadRows<const T>& rows, std::span<const T* const> in, std::int64_t s, std::int64_t j,
               std::int64_t head) const {
    if (pages.page_tokens == 0) return rows.at(key_starts[at(s)] + j, head);
    const T* page = in[at(pages.starts[at(s)] + j / pages.page_tokens)];
    return page + j % pages.page_tokens * rows.token_stride + head * rows.head_stride;
  }
};

/// What the backward pass needs of the forward one: y, dL/dy, and each row's largest score and sum of exponentials, the
/// two parts of its log-sum-exp (kept apart because their sum would lose the small one's digits).
template <class T>
struct AttentionForward {
  HeadRows<const T> y, dy;
  const T* sums;  // [q_tokens, heads, 2]
};

template <class T>
struct AttentionGradients {
  HeadRows<T> dq, dk, dv;  // overwritten
};

/// Queries [begin, end) of one sequence.
struct QueryRange {
  std::int64_t sequence = 0, begin = 0, end = 0;
};

/// The generator's key for one head's dropout. Weight (i, j) is dropped where number j % 4 of
/// philox(dropout_key(dropout, head), example, position of query i, j / 4) is below rate * 2^32.
inline std::uint64_t dropout_key(const AttentionDropout& dropout, std::int64_t head) {
  return dropout.key.at(static_cast<std::uint64_t>(head)).bits();
}

}  // namespace kernels
}  // namespace attune
