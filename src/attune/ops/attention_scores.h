#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attune/kernels/attention.h"
#include "attune/tensor/tensor.h"

namespace attune {

// Changes of the scores before the softmax, by name. The distance of a key from a query is key - query position: below
// 0 for the past. What a change learns is an ordinary tensor on the tape, and gets its exact gradient.

/// The class of a distance: a pure function (published ones: ops/relative_buckets.h).
using BucketOf = std::function<std::int64_t(std::int64_t distance)>;

/// What a call of attention() tells a change: q [q_tokens, heads, head_dim], k [k_tokens, kv_heads, head_dim] (not
/// defined where the keys are in a cache), the scale, the smallest and largest distance that kernels ask for, and how
/// many keys the longest sequence has.
struct ScoreSetting {
  Tensor q, k;
  double scale;
  std::int64_t smallest, largest;
  std::int64_t keys = 0;
};

/// What a change adds to the score of (head, query, key), as tensors on the tape, of q's type: numbers, or what their
/// numbers are products of. See kernels::ScoreTerm.
struct ScoreAddition {
  kernels::ScoreTermKind kind;
  Tensor values = {};                      // distance, pair: the numbers, contiguous
  Tensor rows = {};                        // query, key: [tokens, heads, width], q or k, or others of their places
  Tensor table = {};                       // query, key: [buckets, heads or 1, width], contiguous
  std::vector<std::int32_t> buckets = {};  // query, key: of distances smallest, smallest + 1, ...
  bool every_query = false;                // pair: values are [heads, 1, keys], the same for all queries
};

/// Some changes, applied in a fixed order: the scaled product is capped, then all additions follow in the order of the
/// sum, then the mask; sinks join the softmax's sum alone. Values: `soft_cap(50) + alibi(slopes)`.
struct ScoreChanges {
  double cap = 0;  // 0: none
  std::vector<std::function<ScoreAddition(const ScoreSetting&)>> additions = {};
  Tensor sinks = {};  // [heads]; not defined: none
};

/// cap tanh(score / cap) (Bello et al. 2017, section 5.1; Gemma 2, section 2). Throws Error unless cap > 0.
ScoreChanges soft_cap(double cap);
/// slope[head] * distance for keys of the past, and -slope[head] * |distance| for those after the query (Press et al.
/// 2022, "ALiBi"; the symmetric form for encoders). Slopes are above 0; nn/position/alibi.h makes the paper's.
ScoreChanges alibi(std::vector<double> slopes);
/// A number for each bucket of distances and head: table [buckets, heads] (Raffel et al. 2020, section 2.1, "T5").
ScoreChanges distance_bias(const Tensor& table, BucketOf bucket_of);
/// scale q . r_bucket: relative keys (Shaw et al. 2018, equation 4; with bucketed tables DeBERTa's content-to-position,
/// He et al. 2021, equation 4). table: [buckets, head_dim], the same for all heads, or [buckets, heads, head_dim].
ScoreChanges relative_keys(const Tensor& table, BucketOf bucket_of);
/// scale k . r_bucket: DeBERTa's position-to-content. table: [buckets, head_dim] or [buckets, heads, head_dim]; only
/// where there are as many key heads as query heads.
ScoreChanges relative_queries(const Tensor& table, BucketOf bucket_of);
/// A number for each head, query position and key: [heads, queries, keys], the same for all sequences.
ScoreChanges pair_bias(const Tensor& table);
/// Swin's table of a height x width window, whose tokens stand row by row: table [(2 height - 1)(2 width - 1), heads]
/// (Liu et al. 2021, section 3.2, "relative position bias").
ScoreChanges window_bias(const Tensor& table, std::int64_t height, std::int64_t width);
/// A learned score for each head that takes part in the softmax and has no value: [heads] (Agarwal et al. 2025,
/// "gpt-oss"; Miller 2023, "Attention is off by one" where it is 0).
ScoreChanges sinks(const Tensor& per_head);

/// Both. Two caps or two sinks are an Error.
ScoreChanges operator+(const ScoreChanges& a, const ScoreChanges& b);

}  // namespace attune
