#include "attune/kernels/cpu/attention.h"

#include <cmath>
#include <cstring>

#include "attune/base/threads.h"
#include "attune/kernels/cpu/attention_work.h"
#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/attention.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// A query row's running softmax over the blocks so far: largest score, sums of exponentials by lane, weighted sum of
/// values.
struct RunningRow {
  float* largest;
  float* sums;      // [lanes]
  float* weighted;  // [padded value width]
  std::int64_t width;
};

/// Takes the block's `seen` scores into the row; they become 2^(score - largest), 0 up to the vector's end.
HWY_INLINE void merge_scores(float* HWY_RESTRICT scores, std::int64_t seen, const RunningRow& row) {
  const Vector hidden = hn::Set(floats, -HUGE_VALF);
  if (const std::int64_t tail = seen % lanes; tail != 0) {
    float* last = scores + seen - tail;
    const auto visible = hn::FirstN(floats, static_cast<std::size_t>(tail));
    hn::Store(hn::IfThenElse(visible, hn::Load(floats, last), hidden), floats, last);
  }
  Vector most = hidden;
  for (std::int64_t j = 0; j < seen; j += lanes) most = hn::Max(most, hn::Load(floats, scores + j));
  const float before = *row.largest, largest = std::max(before, largest_lane(most));
  // Where all scores so far are -infinity nothing may be subtracted from them.
  const Vector subtract = hn::Set(floats, largest == -HUGE_VALF ? 0.0f : largest);

  Vector sums = hn::Load(floats, row.sums);
  if (largest != before) {
    const Vector fade = power_of_two(hn::Sub(hn::Set(floats, before), subtract));
    sums = hn::Mul(sums, fade);
    for (std::int64_t c = 0; c < row.width; c += lanes)
      hn::Store(hn::Mul(hn::Load(floats, row.weighted + c), fade), floats, row.weighted + c);
    *row.largest = largest;
  }
  for (std::int64_t j = 0; j < seen; j += lanes) {
    const Vector weight = power_of_two(hn::Sub(hn::Load(floats, scores + j), subtract));
    hn::Store(weight, floats, scores + j);
    sums = hn::Add(sums, weight);
  }
  hn::Store(sums, floats, row.sums);
}

/// Asks memory for a block of keys and values, in the order of its addresses.
static void ask_for_block(const Problem& p, const AttentionWork& work, std::int64_t block, std::int64_t count) {
  const float* rows[key_block] = {};
  block_rows<false>(p, work, block, count, rows);
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t c = 0; c < p.k.width; c += 16) hwy::Prefetch(rows[j] + c);
  block_rows<true>(p, work, block, count, rows);
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t c = 0; c < p.v.width; c += 16) hwy::Prefetch(rows[j] + c);
}

/// The state of one piece of work: rows are its queries times the query heads of the group, query-major, so that the
/// number of visible keys never falls from row to row.
struct Attending {
  const Problem& p;
  AttentionWork work;
  std::int64_t group, rows, width, value_width;  // value_width: padded
  float *queries, *keys, *values, *scores, *weighted, *sums, *largest, *multipliers;
  std::int64_t* visible;

  Attending(const Problem& problem, const AttentionWork& piece, Scratch& scratch)
      : p(problem),
        work(piece),
        group(p.group()),
        rows(piece.queries * group),
        width(p.q.width),
        value_width(padded(p.v.width)) {
    queries = scratch.take(rows * width);
    keys = scratch.take(width * key_block);
    values = scratch.take(key_block * value_width);
    scores = scratch.take(tile_rows * key_block);
    weighted = scratch.take(rows * value_width);
    sums = scratch.take(rows * lanes);
    largest = scratch.take(rows);
    multipliers = scratch.take(key_block);
    visible = scratch.take<std::int64_t>(rows);
    ask_for_block(p, work, 0, std::min(key_block, p.keys(work.sequence)));
    std::fill_n(weighted, rows * value_width, 0.0f);
    std::fill_n(sums, rows * lanes, 0.0f);
    std::fill_n(largest, rows, -HUGE_VALF);
    for (std::int64_t r = 0; r < rows; ++r) {
      pack_row(p.query(work.sequence, query(r), head(r)), width, width, score_factor(p), queries + r * width);
      visible[r] = p.visible(work.sequence, query(r));
    }
  }
  std::int64_t query(std::int64_t row) const { return work.first + row / group; }
  std::int64_t head(std::int64_t row) const { return work.kv_head * group + row % group; }
  /// How many keys of the block the row sees.
  std::int64_t seen(std::int64_t row, std::int64_t block) const {
    return std::clamp<std::int64_t>(visible[row] - block, 0, key_block);
  }
};

static void pack_block(const Attending& a, std::int64_t block, std::int64_t count) {
  const float* rows[key_block] = {};
  block_rows<false>(a.p, a.work, block, count, rows);
  pack_transposed(rows, padded(count), a.width, a.keys);
  block_rows<true>(a.p, a.work, block, count, rows);
  for (std::int64_t j = 0; j < count; ++j)
    pack_row(rows[j], a.p.v.width, a.value_width, 1.0f, a.values + j * a.value_width);
}

/// Rows [first, first + rows) of the piece, at most tile_rows, meet one block of keys.
static void attend_block(const Attending& a, std::int64_t block, std::int64_t first, std::int64_t rows) {
  const std::int64_t most = a.seen(first + rows - 1, block), least = a.seen(first, block);
  if (most == 0) return;
  multiply({a.queries + first * a.width, a.width, 1, a.keys, key_block, a.scores, key_block, a.width, true}, rows,
           padded(most));
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = first + r, seen = a.seen(row, block);
    if (seen == 0) continue;
    float* scores = a.scores + r * key_block;
    merge_scores(scores, seen,
                 {a.largest + row, a.sums + row * lanes, a.weighted + row * a.value_width, a.value_width});
    if (a.p.dropout.rate > 0) {
      const std::uint64_t key = dropout_key(a.p.dropout, a.head(row));
      dropout_multipliers(row_dropout(a.p, a.work.sequence, a.query(row), key), block, seen, a.multipliers);
      for (std::int64_t j = 0; j < seen; j += lanes)
        hn::Store(hn::Mul(hn::Load(floats, scores + j), hn::Load(floats, a.multipliers + j)), floats, scores + j);
    }
  }
  // Keys that all rows see together, then each row's own: a hidden key's value is never touched, be it infinite.
  float* weighted = a.weighted + first * a.value_width;
  if (least > 0)
    multiply({a.scores, key_block, 1, a.values, a.value_width, weighted, a.value_width, least, false}, rows,
             a.value_width);
  for (std::int64_t r = 0; r < rows; ++r)
    if (const std::int64_t seen = a.seen(first + r, block); seen > least)
      multiply({a.scores + r * key_block + least, key_block, 1, a.values + least * a.value_width, a.value_width,
                weighted + r * a.value_width, a.value_width, seen - least, false},
               1, a.value_width);
}

static void write_rows(const Attending& a, const HeadRows<float>& y, float* sums) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t token = a.p.query_starts[static_cast<std::size_t>(a.work.sequence)] + a.query(row);
    const float sum = sum_of_lanes(hn::Load(floats, a.sums + row * lanes));
    float* weighted = a.weighted + row * a.value_width;
    pack_row(weighted, a.value_width, a.value_width, sum == 0 ? 0.0f : 1.0f / sum, weighted);
    std::memcpy(y.at(token, a.head(row)), weighted, static_cast<std::size_t>(a.p.v.width) * sizeof(float));
    float* both = sums + (token * a.p.q.heads + a.head(row)) * 2;
    both[0] = a.largest[row] == -HUGE_VALF ? 0.0f : a.largest[row];
    both[1] = sum;
  }
}

void attend(const Problem& p, const AttentionWork& work, const HeadRows<float>& y, float* sums) {
  Scratch scratch;
  const Attending a(p, work, scratch);
  const std::int64_t last = a.visible[a.rows - 1];
  for (std::int64_t block = 0; block < last; block += key_block) {
    pack_block(a, block, std::min(key_block, last - block));
    // Where a few queries read a long cache, memory is the limit.
    if (a.rows <= tile_rows)
      ask_for_block(p, work, block + key_block, std::clamp<std::int64_t>(last - block - key_block, 0, key_block));
    for (std::int64_t first = 0; first < a.rows; first += tile_rows)
      attend_block(a, block, first, std::min<std::int64_t>(tile_rows, a.rows - first));
  }
  write_rows(a, y, sums);
}

/// Weights of queries [work.first, + work.queries) for the group's heads; `range` says where in `weights` they stand.
void attend_weights(const Problem& p, const AttentionWork& work, const QueryRange& range, float* weights) {
  Scratch scratch;
  const Attending a(p, work, scratch);
  const std::int64_t keys = p.keys(work.sequence), length = (keys + key_block - 1) / key_block * key_block;
  float* scores = scratch.take(a.rows * length);  // [rows, keys]
  for (std::int64_t block = 0; block < a.visible[a.rows - 1]; block += key_block) {
    const std::int64_t count = std::min(key_block, keys - block);
    const float* rows[key_block];
    block_rows<false>(p, work, block, count, rows);
    pack_transposed(rows, padded(count), a.width, a.keys);
    multiply({a.queries, a.width, 1, a.keys, key_block, scores + block, length, a.width, true}, a.rows, padded(count));
  }
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* w = scores + row * length;
    merge_scores(w, a.visible[row], {a.largest + row, a.sums + row * lanes, a.weighted, 0});
    const float sum = sum_of_lanes(hn::Load(floats, a.sums + row * lanes));
    float* out = weights + (a.head(row) * (range.end - range.begin) + a.query(row) - range.begin) * keys;
    for (std::int64_t j = 0; j < keys; ++j) out[j] = j < a.visible[row] && sum != 0 ? w[j] / sum : 0.0f;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(attend);
HWY_EXPORT(attend_weights);

namespace {

// Rows of queries for which a block of keys is packed once: enough for the packing to cost little beside the products,
// few enough for their sums to stay in the second-level cache. A multiple of the tile's rows.
constexpr std::int64_t rows_at_once = 192;

}  // namespace

void attention(const AttentionProblem<float>& problem, const HeadRows<float>& y, float* sums) {
  const std::int64_t at_once = std::max<std::int64_t>(1, rows_at_once / problem.group());
  std::vector<AttentionWork> work;
  for (std::int64_t s : longest_first(problem))
    for (std::int64_t head = 0; head < problem.k.heads; ++head)
      for (std::int64_t first = 0; first < problem.queries(s); first += at_once)
        work.push_back({s, head, first, std::min(at_once, problem.queries(s) - first)});
  parallel(static_cast<std::int64_t>(work.size()), attention_grain(problem, work.size()),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end; ++i)
               HWY_DYNAMIC_DISPATCH(attend)(problem, work[static_cast<std::size_t>(i)], y, sums);
           });
}

void attention_weights(const AttentionProblem<float>& problem, const QueryRange& queries, float* weights) {
  constexpr std::int64_t at_once = 48;
  const std::int64_t pieces = (queries.end - queries.begin + at_once - 1) / at_once;
  parallel(pieces * problem.k.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = queries.begin + i % pieces * at_once;
      const AttentionWork work{queries.sequence, i / pieces, first, std::min(at_once, queries.end - first)};
      HWY_DYNAMIC_DISPATCH(attend_weights)(problem, work, queries, weights);
    }
  });
}

}  // namespace attune::kernels
#endif
