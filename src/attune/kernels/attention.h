#pragma once

#include <cstdint>
#include <span>

#include "attune/base/random.h"
#include "attune/kernels/attention_mask.h"
#include "attune/kernels/cache_pages.h"

namespace attune {

/// Drops single attention weights with probability `rate` and divides the others by 1 - rate (Srivastava et al. 2014).
struct AttentionDropout {
  float rate = 0;
  RandomKey key = {};
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

/// One score: query head, query as a row of q and as a position, key as a row of k and as a position.
struct ScorePlace {
  std::int64_t head, query_row, query, key_row, key;
};

/// By what a ScoreTerm's numbers differ, besides the head.
enum class ScoreTermKind { distance, pair, query, key };

/// What is added to the scores. The distance of a key from a query is key - query position; its column is
/// buckets[distance - smallest], or where there are no buckets distance - smallest itself. By kind, `values` is
///   distance: [heads, columns]             a number for each distance
///   pair:     [heads, queries, keys]       a number for each query position and key, the same for all sequences
///   query:    [q_tokens, heads, columns]   a query's number for each bucket of distances
///   key:      [heads, columns, k_tokens]   a key's number for each bucket of distances
/// Distances reach to the end of the last block of 64 keys.
template <class T>
struct ScoreTerm {
  ScoreTermKind kind;
  const T* values;
  std::int64_t head_stride, row_stride;  // row: query position, row of q, or column
  std::int64_t columns;
  const std::int32_t* buckets = nullptr;
  std::int64_t smallest = 0;

  std::int64_t column(std::int64_t distance) const {
    return buckets ? buckets[distance - smallest] : distance - smallest;
  }
  /// Where in `values`, and in their gradient, the number of a score stands.
  std::int64_t index(const ScorePlace& p) const {
    const std::int64_t of_head = p.head * head_stride;
    switch (kind) {
      case ScoreTermKind::distance:
        return of_head + column(p.key - p.query);
      case ScoreTermKind::pair:
        return of_head + p.query * row_stride + p.key;
      case ScoreTermKind::query:
        return of_head + p.query_row * row_stride + column(p.key - p.query);
      default:
        return of_head + column(p.key - p.query) * row_stride + p.key_row;
    }
  }
};

/// softmax(cap(scale q k^T) + terms, masked) v for each sequence and head (Vaswani et al. 2017, equation 1), where
/// cap(x) = cap tanh(x / cap). Query head h uses key head h / (q.heads / k.heads) (Ainslie et al. 2023, "GQA").
template <class T>
struct AttentionProblem {
  HeadRows<const T> q = {}, k = {}, v = {};            // k and v without data where there are pages
  std::span<const std::int64_t> query_starts;          // [sequences + 1]
  std::span<const std::int64_t> key_starts;            // [sequences + 1]
  std::span<const std::int64_t> first_positions = {};  // [sequences] of the first query among the keys
  std::span<const std::int64_t> examples = {};         // [sequences] for dropout
  AttentionMask mask = {};
  double scale = 1;
  double cap = 0;  // 0: none
  std::span<const ScoreTerm<T>> terms = {};
  const T* sinks = nullptr;  // [q.heads]: a score that takes part in the softmax and has no value
  AttentionDropout dropout = {};
  std::int64_t first_head = 0;  // of the model's: the problem may be of some of them
  KeyPages pages = {};

  std::int64_t sequences() const { return static_cast<std::int64_t>(query_starts.size()) - 1; }
  std::int64_t queries(std::int64_t s) const { return query_starts[at(s) + 1] - query_starts[at(s)]; }
  std::int64_t keys(std::int64_t s) const { return key_starts[at(s) + 1] - key_starts[at(s)]; }
  std::int64_t group() const { return q.heads / k.heads; }
  std::int64_t query_row(std::int64_t s, std::int64_t i) const { return query_starts[at(s)] + i; }
  std::int64_t key_row(std::int64_t s, std::int64_t j) const { return key_starts[at(s)] + j; }
  /// Query i of sequence s among its keys.
  std::int64_t position(std::int64_t s, std::int64_t i) const { return first_positions[at(s)] + i; }
  /// Queries [first, first + count) of sequence s, for the mask.
  QuerySpan span(std::int64_t s, std::int64_t first, std::int64_t count) const {
    return {s, position(s, first), count, keys(s)};
  }
  /// Where a row's largest score and sum of exponentials stand, in [heads, q_tokens, 2].
  std::int64_t sums_of(std::int64_t head, std::int64_t token) const { return (head * query_starts.back() + token) * 2; }
  /// The generator's key for one head's dropout. Weight (i, j) is dropped where number j % 4 of
  /// philox(dropout_key_of(head), example, position of query i, j / 4) is below rate * 2^32.
  std::uint64_t dropout_key_of(std::int64_t head) const {
    return dropout.key.at(static_cast<std::uint64_t>(first_head + head)).bits();
  }
  const T* query(std::int64_t s, std::int64_t i, std::int64_t head) const { return q.at(query_row(s, i), head); }
  const T* key(std::int64_t s, std::int64_t j, std::int64_t kv_head) const { return k.at(key_row(s, j), kv_head); }
  const T* value(std::int64_t s, std::int64_t j, std::int64_t kv_head) const { return v.at(key_row(s, j), kv_head); }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

/// What the backward pass needs of the forward one: y, dL/dy, and each row's largest score and sum of exponentials, the
/// two parts of its log-sum-exp (kept apart because their sum would lose the small one's digits).
template <class T>
struct AttentionForward {
  HeadRows<const T> y, dy;
  const T* sums;  // [heads, q_tokens, 2]
};

template <class T>
struct AttentionGradients {
  HeadRows<T> dq, dk, dv;          // overwritten
  std::span<T* const> terms = {};  // one a term, laid out as its values and added to; null: not wanted
  T* sinks = nullptr;              // [q.heads], added to; null: not wanted
};

/// Queries [begin, end) of one sequence, and heads [first_head, first_head + heads).
struct WeightRows {
  std::int64_t sequence = 0, begin = 0, end = 0, first_head = 0, heads = 0;

  std::int64_t queries() const { return end - begin; }
  bool has_head(std::int64_t head) const { return head >= first_head && head < first_head + heads; }
  /// Where the row of a query and a head begins in [heads, queries, keys].
  std::int64_t row(std::int64_t query, std::int64_t head, std::int64_t keys) const {
    return ((head - first_head) * queries() + query - begin) * keys;
  }
};

}  // namespace kernels
}  // namespace attune
