#include <cmath>
#include <cstring>

#include "attune/base/threads.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/kernels/cpu/attention_work.h"
#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/attention_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

// Queries that meet a block of keys at once.
constexpr std::int64_t query_block = 48;

/// The state of one (sequence, key head): rows are the group's query heads times the queries, head-major, the order of
/// the sums.
struct Retracing {
  const Problem& p;
  const AttentionForward<float>& f;
  const AttentionWork& work;
  std::int64_t group, rows, width, value_width;  // both widths padded
  float *queries, *dy, *dqueries;                // [rows, width or value width]
  float *largest, *inverse, *mean;               // [rows]
  float *keys, *keys_across,
      *values_across;        // a block's: [key_block, width], [width, key_block], [value width, key_block]
  float *dkeys, *dvalues;    // [key_block, width or value width]
  float *weights, *dscores;  // [query_block, key_block]
  float* multipliers;
  std::int64_t* visible;  // [queries]

  Retracing(const Problem& problem, const AttentionForward<float>& forward, const AttentionWork& piece,
            Scratch& scratch)
      : p(problem),
        f(forward),
        work(piece),
        group(p.group()),
        rows(piece.queries * group),
        width(padded(p.q.width)),
        value_width(padded(p.v.width)) {
    queries = scratch.take(rows * width), dy = scratch.take(rows * value_width), dqueries = scratch.take(rows * width);
    largest = scratch.take(rows), inverse = scratch.take(rows), mean = scratch.take(rows);
    keys = scratch.take(key_block * width), keys_across = scratch.take(key_block * width);
    values_across = scratch.take(key_block * value_width);
    dkeys = scratch.take(key_block * width), dvalues = scratch.take(key_block * value_width);
    weights = scratch.take(query_block * key_block), dscores = scratch.take(query_block * key_block);
    multipliers = scratch.take(key_block);
    visible = scratch.take<std::int64_t>(piece.queries);
    std::fill_n(dqueries, rows * width, 0.0f);
    for (std::int64_t i = 0; i < piece.queries; ++i) visible[i] = p.visible(work.sequence, i);
    float* y = scratch.take(value_width);
    for (std::int64_t row = 0; row < rows; ++row) {
      pack_row(p.query(work.sequence, row % work.queries, head(row)), p.q.width, width, score_factor(p),
               queries + row * width);
      pack_row(f.dy.at(token(row), head(row)), p.v.width, value_width, 1.0f, dy + row * value_width);
      pack_row(f.y.at(token(row), head(row)), p.v.width, value_width, 1.0f, y);
      Vector sum = hn::Zero(floats);
      for (std::int64_t c = 0; c < value_width; c += lanes)
        sum = hn::MulAdd(hn::Load(floats, y + c), hn::Load(floats, dy + row * value_width + c), sum);
      mean[row] = sum_of_lanes(sum);
      const float* both = f.sums + (token(row) * p.q.heads + head(row)) * 2;
      largest[row] = both[0];
      inverse[row] = both[1] == 0 ? 0.0f : 1.0f / both[1];
    }
  }
  std::int64_t token(std::int64_t row) const {
    return p.query_starts[static_cast<std::size_t>(work.sequence)] + row % work.queries;
  }
  std::int64_t head(std::int64_t row) const { return work.kv_head * group + row / work.queries; }
};

static void pack_block(const Retracing& r, std::int64_t block, std::int64_t count) {
  const float* rows[key_block];
  block_rows<false>(r.p, r.work, block, count, rows);
  pack_transposed(rows, padded(count), r.p.q.width, r.keys_across);
  for (std::int64_t j = 0; j < count; ++j) pack_row(rows[j], r.p.q.width, r.width, 1.0f, r.keys + j * r.width);
  block_rows<true>(r.p, r.work, block, count, rows);
  pack_transposed(rows, padded(count), r.p.v.width, r.values_across);
  std::fill_n(r.dkeys, count * r.width, 0.0f);
  std::fill_n(r.dvalues, count * r.value_width, 0.0f);
}

/// In: scores and dL/dweight of one row. Out: its weights (after dropout) and dL/dscore; 0 where it does not see.
static void retrace_row(const Retracing& r, std::int64_t row, std::int64_t block, std::int64_t place,
                        std::int64_t columns) {
  const std::int64_t query = row % r.work.queries;
  const std::int64_t seen = r.visible[query] - block;
  float* HWY_RESTRICT weights = r.weights + place * key_block;
  float* HWY_RESTRICT dscores = r.dscores + place * key_block;
  const bool drop = r.p.dropout.rate > 0;
  if (drop)
    dropout_multipliers(row_dropout(r.p, r.work.sequence, query, dropout_key(r.p.dropout, r.head(row))), block, columns,
                        r.multipliers);
  const Vector largest = hn::Set(floats, r.largest[row]), inverse = hn::Set(floats, r.inverse[row]);
  const Vector mean = hn::Set(floats, r.mean[row]);
  for (std::int64_t j = 0; j < columns; j += lanes) {
    const auto sees = hn::FirstN(floats, static_cast<std::size_t>(std::clamp<std::int64_t>(seen - j, 0, lanes)));
    Vector weight = hn::Mul(power_of_two(hn::Sub(hn::Load(floats, weights + j), largest)), inverse);
    weight = hn::IfThenElseZero(sees, weight);
    Vector dweight = hn::Load(floats, dscores + j), kept = weight;
    if (drop) {
      const Vector multiplier = hn::Load(floats, r.multipliers + j);
      dweight = hn::Mul(dweight, multiplier), kept = hn::Mul(weight, multiplier);
    }
    hn::Store(kept, floats, weights + j);
    hn::Store(hn::IfThenElseZero(sees, hn::Mul(weight, hn::Sub(dweight, mean))), floats, dscores + j);
  }
}

/// Rows [first, first + rows), at most query_block and of one head, meet a block of keys.
static void retrace_block(const Retracing& r, std::int64_t block, std::int64_t first, std::int64_t rows) {
  const std::int64_t seen = std::min(key_block, r.visible[(first + rows - 1) % r.work.queries] - block);
  const float* queries = r.queries + first * r.width;
  const float* dy = r.dy + first * r.value_width;
  multiply({queries, r.width, 1, r.keys_across, key_block, r.weights, key_block, r.p.q.width, true}, rows,
           padded(seen));
  multiply({dy, r.value_width, 1, r.values_across, key_block, r.dscores, key_block, r.p.v.width, true}, rows,
           padded(seen));
  for (std::int64_t place = 0; place < rows; ++place) retrace_row(r, first + place, block, place, padded(seen));
  multiply({r.weights, 1, key_block, dy, r.value_width, r.dvalues, r.value_width, rows, false}, seen, r.value_width);
  multiply({r.dscores, 1, key_block, queries, r.width, r.dkeys, r.width, rows, false}, seen, r.width);
  multiply({r.dscores, key_block, 1, r.keys, r.width, r.dqueries + first * r.width, r.width, seen, false}, rows,
           r.width);
}

void retrace(const Problem& p, const AttentionForward<float>& f, const AttentionWork& work,
             const AttentionGradients<float>& gradients) {
  Scratch scratch;
  const Retracing r(p, f, work, scratch);
  const auto head_bytes = static_cast<std::size_t>(p.q.width) * sizeof(float);
  for (std::int64_t block = 0; block < p.keys(work.sequence); block += key_block) {
    const std::int64_t count = std::min(key_block, p.keys(work.sequence) - block);
    pack_block(r, block, count);
    const std::int64_t first_seeing = std::upper_bound(r.visible, r.visible + work.queries, block) - r.visible;
    for (std::int64_t head = 0; head < r.group; ++head)
      for (std::int64_t i = first_seeing; i < work.queries; i += query_block)
        retrace_block(r, block, head * work.queries + i, std::min(query_block, work.queries - i));
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t token = p.key_starts[static_cast<std::size_t>(work.sequence)] + block + j;
      // The queries were packed times scale log2 e; dL/dk wants them times scale.
      pack_row(r.dkeys + j * r.width, r.width, r.width, 0.69314718f, r.dkeys + j * r.width);
      std::memcpy(gradients.dk.at(token, work.kv_head), r.dkeys + j * r.width, head_bytes);
      std::memcpy(gradients.dv.at(token, work.kv_head), r.dvalues + j * r.value_width,
                  static_cast<std::size_t>(p.v.width) * sizeof(float));
    }
  }
  for (std::int64_t row = 0; row < r.rows; ++row) {
    float* dquery = r.dqueries + row * r.width;
    pack_row(dquery, r.width, r.width, static_cast<float>(p.scale), dquery);
    std::memcpy(gradients.dq.at(r.token(row), r.head(row)), dquery, head_bytes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(retrace);

void attention_backward(const AttentionProblem<float>& problem, const AttentionForward<float>& forward,
                        const AttentionGradients<float>& gradients) {
  std::vector<AttentionWork> work;  // a sequence without queries too: its keys' gradients are zeros
  for (std::int64_t s : longest_first(problem))
    for (std::int64_t head = 0; head < problem.k.heads; ++head) work.push_back({s, head, 0, problem.queries(s)});
  parallel(static_cast<std::int64_t>(work.size()), attention_grain(problem, work.size()),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end; ++i)
               HWY_DYNAMIC_DISPATCH(retrace)(problem, forward, work[static_cast<std::size_t>(i)], gradients);
           });
}

}  // namespace attune::kernels
#endif
