#include "attune/ops/attention_scores.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/embedding.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

using kernels::ScoreTermKind;

/// Buckets of all distances that a call asks for; each must be a row of a table of `count`.
std::vector<std::int32_t> buckets_of(const ScoreSetting& s, const BucketOf& bucket_of, std::int64_t count) {
  std::vector<std::int32_t> all;
  for (std::int64_t d = s.smallest; d <= s.largest; ++d) {
    const std::int64_t bucket = bucket_of(d);
    check(bucket >= 0 && bucket < count, "attention scores: distance {} is of bucket {}, and the table has {}", d,
          bucket, count);
    all.push_back(static_cast<std::int32_t>(bucket));
  }
  return all;
}

Tensor as_indices(const std::vector<std::int32_t>& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

void check_heads(const char* change, std::int64_t given, const ScoreSetting& s) {
  check(given == s.q.dim(1), "attention scores, {}: values for {} heads, and q has {}", change, given, s.q.dim(1));
}

/// scale x . table_bucket for each row and head of x, and the buckets.
ScoreChanges relative(ScoreTermKind kind, const char* change, const Tensor& table, BucketOf bucket_of) {
  check(table.rank() == 2 || table.rank() == 3,
        "attention scores, {}: the table is {}: expected [buckets, head_dim] or [buckets, heads, head_dim]", change,
        table.shape());
  return {
      .additions = {[=](const ScoreSetting& s) -> ScoreAddition {
        const Tensor& x = kind == ScoreTermKind::query ? s.q : s.k;
        check(x.defined(), "attention scores, {}: the keys are in a cache, which does not hold what it needs", change);
        check(x.dim(1) == s.q.dim(1) && (table.rank() == 2 || table.dim(1) == x.dim(1)) && table.dim(-1) == x.dim(2),
              "attention scores, {}: rows {} and a table {} for {} query heads: expected as many heads and one width",
              change, x.shape(), table.shape(), s.q.dim(1));
        const Tensor by_head = table.rank() == 3 ? table : reshape(table, {table.dim(0), 1, table.dim(1)});
        return {.kind = kind,
                .rows = x,
                .table = contiguous(scale(by_head, s.scale)),
                .buckets = buckets_of(s, bucket_of, table.dim(0))};
      }}};
}

}  // namespace

ScoreChanges soft_cap(double cap) {
  check(std::isfinite(cap) && cap > 0, "attention scores, soft_cap: the cap is {}: expected a number above 0", cap);
  return {.cap = cap};
}

ScoreChanges alibi(std::vector<double> slopes) {
  for (double slope : slopes)
    check(std::isfinite(slope) && slope >= 0, "attention scores, alibi: a slope is {}: expected 0 or more", slope);
  return {.additions = {[slopes = std::move(slopes)](const ScoreSetting& s) -> ScoreAddition {
            check_heads("alibi", static_cast<std::int64_t>(slopes.size()), s);
            std::vector<double> values;  // [heads, distances]
            for (double slope : slopes)
              for (std::int64_t d = s.smallest; d <= s.largest; ++d)
                values.push_back(-slope * static_cast<double>(std::abs(d)));
            const Shape shape{static_cast<std::int64_t>(slopes.size()), s.largest - s.smallest + 1};
            return {.kind = ScoreTermKind::distance, .values = Tensor::from<double>(shape, values).to(s.q.dtype())};
          }}};
}

ScoreChanges distance_bias(const Tensor& table, BucketOf bucket_of) {
  check(table.rank() == 2, "attention scores, distance_bias: the table is {}: expected [buckets, heads]",
        table.shape());
  return {.additions = {[table, bucket_of = std::move(bucket_of)](const ScoreSetting& s) -> ScoreAddition {
            check_heads("distance_bias", table.dim(1), s);
            const Tensor rows = embedding(table, as_indices(buckets_of(s, bucket_of, table.dim(0))));
            return {.kind = ScoreTermKind::distance,
                    .values = contiguous(transposed(rows, 0, 1))};  // [distances, heads] -> [heads, distances]
          }}};
}

ScoreChanges relative_keys(const Tensor& table, BucketOf bucket_of) {
  return relative(ScoreTermKind::query, "relative_keys", table, std::move(bucket_of));
}

ScoreChanges relative_queries(const Tensor& table, BucketOf bucket_of) {
  return relative(ScoreTermKind::key, "relative_queries", table, std::move(bucket_of));
}

ScoreChanges pair_bias(const Tensor& table) {
  check(table.rank() == 3 && table.is_contiguous(),
        "attention scores, pair_bias: the table is {}: expected [heads, queries, keys], contiguous", table.shape());
  return {.additions = {[table](const ScoreSetting& s) -> ScoreAddition {
            check_heads("pair_bias", table.dim(0), s);
            return {.kind = ScoreTermKind::pair, .values = table};
          }}};
}

ScoreChanges window_bias(const Tensor& table, std::int64_t height, std::int64_t width) {
  check(height > 0 && width > 0, "attention scores, window_bias: a window of {} x {}: expected 1 x 1 or more", height,
        width);
  const std::int64_t rows = (2 * height - 1) * (2 * width - 1);
  check(table.rank() == 2 && table.dim(0) == rows,
        "attention scores, window_bias: the table is {}: expected [{}, heads] for a window of {} x {}", table.shape(),
        rows, height, width);
  std::vector<std::int32_t> index;  // [tokens, tokens]
  const std::int64_t tokens = height * width;
  for (std::int64_t i = 0; i < tokens; ++i)
    for (std::int64_t j = 0; j < tokens; ++j)
      index.push_back(static_cast<std::int32_t>((i / width - j / width + height - 1) * (2 * width - 1) + i % width -
                                                j % width + width - 1));
  return {.additions = {[=](const ScoreSetting& s) -> ScoreAddition {
            check_heads("window_bias", table.dim(1), s);
            const Tensor pairs =
                contiguous(transposed(embedding(table, as_indices(index)), 0, 1));  // [heads, tokens tokens]
            return {.kind = ScoreTermKind::pair, .values = reshape(pairs, {table.dim(1), tokens, tokens})};
          }}};
}

ScoreChanges sinks(const Tensor& per_head) {
  check(per_head.rank() == 1 && per_head.is_contiguous(), "attention scores, sinks: {}: expected [heads]",
        per_head.shape());
  return {.sinks = per_head};
}

ScoreChanges operator+(const ScoreChanges& a, const ScoreChanges& b) {
  check(a.cap == 0 || b.cap == 0, "attention scores: two soft caps, {} and {}", a.cap, b.cap);
  check(!a.sinks.defined() || !b.sinks.defined(), "attention scores: sinks twice");
  ScoreChanges both = a;
  if (b.cap != 0) both.cap = b.cap;
  if (b.sinks.defined()) both.sinks = b.sinks;
  both.additions.insert(both.additions.end(), b.additions.begin(), b.additions.end());
  return both;
}

}  // namespace attune
