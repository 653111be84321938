#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "attune/base/threads.h"
#include "attune/kernels/cpu/attention.h"
#include "attune/kernels/cpu/attention_work.h"
#include "attune/kernels/cpu/scratch.h"
#include "attune/kernels/workspace.h"

#ifndef ATTUNE_KERNELS_CPU_ATTENTION_BACKWARD_PARTS
#define ATTUNE_KERNELS_CPU_ATTENTION_BACKWARD_PARTS
namespace attune::kernels {

// Keys in a chunk: dq is the sum of the chunks' parts in their order, so that threads may share a long sequence.
constexpr std::int64_t key_chunk = 512;

// Queries that meet a block of keys at once.
constexpr std::int64_t query_block = 48;

/// A chunk's part of dq: [rows, padded width], of which those query blocks are defined that saw the chunk.
struct QueryPart {
  float* sums;
  std::uint8_t* touched;  // [heads of the group, query blocks]
};

inline std::int64_t query_blocks(const AttentionWork& work) { return (work.queries + query_block - 1) / query_block; }

}  // namespace attune::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/attention_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/attention_gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// The state of one (sequence, key head): rows are the group's query heads times the queries, head-major, the order of
/// the sums.
struct Retracing {
  const Problem& p;
  const AttentionForward<float>& f;
  const AttentionWork& work;
  std::int64_t group, rows, width, value_width;  // both widths padded
  float *queries, *dy;                           // [rows, width or value width]
  QueryPart part;                                // of the chunk of keys at hand
  float *largest, *inverse, *mean;               // [rows]
  float *keys, *keys_across,
      *values_across;           // a block's: [key_block, width], [width, key_block], [value width, key_block]
  float *dkeys, *dvalues;       // [key_block, width or value width]
  float *weights, *dscores;     // [query_block, key_block]
  float *multipliers, *slopes;  // [key_block]: a row's
  std::uint64_t* bits;          // [query_block]: what each query sees of the block
  KeyNumbers key_numbers, dkey_numbers;

  Retracing(const Problem& problem, const AttentionForward<float>& forward, const AttentionWork& piece,
            Scratch& scratch)
      : p(problem),
        f(forward),
        work(piece),
        group(p.group()),
        rows(piece.queries * group),
        width(padded(p.q.width)),
        value_width(padded(p.v.width)),
        key_numbers(problem, scratch),
        dkey_numbers(problem, scratch) {
    queries = scratch.take(rows * width), dy = scratch.take(rows * value_width);
    largest = scratch.take(rows), inverse = scratch.take(rows), mean = scratch.take(rows);
    keys = scratch.take(key_block * width), keys_across = scratch.take(key_block * width);
    values_across = scratch.take(key_block * value_width);
    dkeys = scratch.take(key_block * width), dvalues = scratch.take(key_block * value_width);
    weights = scratch.take(query_block * key_block), dscores = scratch.take(query_block * key_block);
    multipliers = scratch.take(key_block), slopes = scratch.take(key_block);
    bits = scratch.take<std::uint64_t>(query_block);
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
      const float* both = f.sums + p.sums_of(head(row), token(row));
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
  const float* rows[key_block] = {};
  block_rows<false>(r.p, r.work, block, count, rows);
  pack_transposed(rows, padded(count), r.p.q.width, r.keys_across);
  for (std::int64_t j = 0; j < count; ++j) pack_row(rows[j], r.p.q.width, r.width, 1.0f, r.keys + j * r.width);
  block_rows<true>(r.p, r.work, block, count, rows);
  pack_transposed(rows, padded(count), r.p.v.width, r.values_across);
  std::fill_n(r.dkeys, count * r.width, 0.0f);
  std::fill_n(r.dvalues, count * r.value_width, 0.0f);
}

/// In: scaled products and dL/dweight of one row. Out: its weights (after dropout) and dL/d(scale q k); 0 where hidden.
static void retrace_row(const Retracing& r, const AttentionGradients<float>& g, std::int64_t row, std::int64_t block,
                        std::int64_t place, const SeenKeys& seen) {
  float* HWY_RESTRICT weights = r.weights + place * key_block;
  float* HWY_RESTRICT dscores = r.dscores + place * key_block;
  const ScoreRow score_row = {r.p, r.work.sequence, row % r.work.queries, r.head(row), block, r.key_numbers};
  finish_scores(score_row, seen, weights, r.slopes);
  const bool drop = r.p.dropout.rate > 0;
  if (drop)
    dropout_multipliers(row_dropout(r.p, r.work.sequence, score_row.query, r.p.dropout_key_of(score_row.head)), block,
                        seen.end, r.multipliers);
  const Vector largest = hn::Set(floats, r.largest[row]), inverse = hn::Set(floats, r.inverse[row]);
  const Vector mean = hn::Set(floats, r.mean[row]);
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    const auto sees = lanes_seen(r.bits[place], j);
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
  for (std::size_t n = 0; n < g.terms.size(); ++n)
    if (float* keys = r.dkey_numbers.of_term(n); g.terms[n] && keys)
      add_key_gradient(score_row, r.p.terms[n], seen, dscores, keys);
    else if (g.terms[n])
      add_term_gradient(score_row, r.p.terms[n], seen, dscores, g.terms[n]);
  if (r.p.cap != 0)
    for (std::int64_t j = seen.begin; j < seen.end; j += lanes)
      hn::Store(hn::Mul(hn::Load(floats, dscores + j), hn::Load(floats, r.slopes + j)), floats, dscores + j);
}

/// Rows [first, first + rows), at most query_block and of one head, meet a block of `count` keys.
static void retrace_block(const Retracing& r, const AttentionGradients<float>& g, std::int64_t block,
                          std::int64_t count, std::int64_t first, std::int64_t rows) {
  const QuerySpan queries = r.p.span(r.work.sequence, first % r.work.queries, rows);
  const Cover cover = r.p.mask.cover(queries, {block, block + count});
  if (cover == Cover::none) return;
  std::uint64_t any = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    any |= r.bits[i] = cover == Cover::all
                           ? AttentionMask::first_bits(count)
                           : r.p.mask.bits({queries.sequence, queries.first + i, 1, queries.keys}, block);
  if (any == 0) return;
  float* dq = r.part.sums + first * r.width;
  std::uint8_t& touched =
      r.part.touched[first / r.work.queries * query_blocks(r.work) + first % r.work.queries / query_block];
  if (!touched) std::fill_n(dq, rows * r.width, 0.0f);
  touched = 1;
  const SeenKeys seen(any);
  const std::int64_t columns = seen.end - seen.begin, keys = seen.last - seen.first;
  const float* q = r.queries + first * r.width;
  const float* dy = r.dy + first * r.value_width;
  multiply({q, r.width, 1, r.keys_across + seen.begin, key_block, r.weights + seen.begin, key_block, r.p.q.width, true},
           rows, columns);
  multiply({dy, r.value_width, 1, r.values_across + seen.begin, key_block, r.dscores + seen.begin, key_block,
            r.p.v.width, true},
           rows, columns);
  for (std::int64_t place = 0; place < rows; ++place) retrace_row(r, g, first + place, block, place, seen);
  multiply({r.weights + seen.first, 1, key_block, dy, r.value_width, r.dvalues + seen.first * r.value_width,
            r.value_width, rows, false},
           keys, r.value_width);
  multiply({r.dscores + seen.first, 1, key_block, q, r.width, r.dkeys + seen.first * r.width, r.width, rows, false},
           keys, r.width);
  multiply({r.dscores + seen.first, key_block, 1, r.keys + seen.first * r.width, r.width, dq, r.width, keys, false},
           rows, r.width);
}

/// The sinks' weights draw from every row: dL/dsink = -weight * mean.
static void retrace_sinks(const Retracing& r, float* dsinks) {
  for (std::int64_t row = 0; row < r.rows; ++row) {
    const float sink = r.p.sinks[r.head(row)] * log2_e;
    dsinks[r.head(row)] -= std::exp2(sink - r.largest[row]) * r.inverse[row] * r.mean[row];
  }
}

/// Keys bring numbers only where each query head has keys of its own: the group is one head.
static void load_key_numbers(const Retracing& r, std::int64_t block, std::int64_t count) {
  for (std::size_t n = 0; n < r.p.terms.size(); ++n)
    if (float* sums = r.dkey_numbers.of_term(n)) std::fill_n(sums, r.p.terms[n].columns * key_block, 0.0f);
  if (r.p.terms.empty() || r.work.queries == 0) return;
  const std::int64_t first = r.p.position(r.work.sequence, 0);
  r.key_numbers.load(r.work.sequence, r.work.kv_head, {block, block + count}, first, first + r.work.queries - 1);
}

static void store_key_gradients(const Retracing& r, const AttentionGradients<float>& g, std::int64_t block,
                                std::int64_t count) {
  for (std::size_t n = 0; n < g.terms.size(); ++n) {
    const float* sums = r.dkey_numbers.of_term(n);
    if (!sums || !g.terms[n]) continue;
    const ScoreTerm<float>& term = r.p.terms[n];
    float* to = g.terms[n] + term.head_stride * r.work.kv_head + r.p.key_row(r.work.sequence, block);
    for (std::int64_t c = 0; c < term.columns; ++c)
      for (std::int64_t j = 0; j < count; ++j) to[c * term.row_stride + j] += sums[c * key_block + j];
  }
}

static void store_block(const Retracing& r, const AttentionGradients<float>& g, std::int64_t block,
                        std::int64_t count) {
  store_key_gradients(r, g, block, count);
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t token = r.p.key_row(r.work.sequence, block + j);
    // The queries were packed times scale log2 e; dL/dk wants them times scale.
    pack_row(r.dkeys + j * r.width, r.width, r.width, 0.69314718f, r.dkeys + j * r.width);
    std::memcpy(g.dk.at(token, r.work.kv_head), r.dkeys + j * r.width,
                static_cast<std::size_t>(r.p.q.width) * sizeof(float));
    std::memcpy(g.dv.at(token, r.work.kv_head), r.dvalues + j * r.value_width,
                static_cast<std::size_t>(r.p.v.width) * sizeof(float));
  }
}

/// Keys [keys.begin, keys.end) of one chunk: their gradients, and in r.part what they give to the queries'.
static void retrace_chunk(const Retracing& r, const AttentionGradients<float>& g, const KeySpan& keys) {
  std::fill_n(r.part.touched, r.group * query_blocks(r.work), std::uint8_t{0});
  for (std::int64_t block = keys.begin; block < keys.end; block += key_block) {
    const std::int64_t count = std::min(key_block, keys.end - block);
    pack_block(r, block, count);
    load_key_numbers(r, block, count);
    const QuerySpan all = r.p.span(r.work.sequence, 0, r.work.queries);
    const PositionSpan viewers = r.p.mask.viewers(all, {block, block + count});
    const std::int64_t first = (viewers.begin - all.first) / query_block * query_block;
    for (std::int64_t head = 0; head < r.group; ++head)
      for (std::int64_t i = first; i < viewers.end - all.first; i += query_block)
        retrace_block(r, g, block, count, head * r.work.queries + i, std::min(query_block, r.work.queries - i));
    store_block(r, g, block, count);
  }
}

void clear_queries(const Problem& p, const AttentionWork& work, const HeadRows<float>& dq) {
  for (std::int64_t h = work.kv_head * p.group(); h < (work.kv_head + 1) * p.group(); ++h)
    for (std::int64_t i = 0; i < work.queries; ++i)
      std::fill_n(dq.at(p.query_row(work.sequence, i), h), p.q.width, 0.0f);
}

/// dq += scale part.
void add_part(const Problem& p, const AttentionWork& work, const QueryPart& part, const HeadRows<float>& dq) {
  const Vector scale = hn::Set(floats, static_cast<float>(p.scale));
  const std::int64_t width = padded(p.q.width), blocks = query_blocks(work);
  for (std::int64_t block = 0; block < p.group() * blocks; ++block) {
    if (!part.touched[block]) continue;
    const std::int64_t in_group = block / blocks, first = block % blocks * query_block;
    for (std::int64_t i = first; i < std::min(first + query_block, work.queries); ++i) {
      const float* from = part.sums + (in_group * work.queries + i) * width;
      float* to = dq.at(p.query_row(work.sequence, i), work.kv_head * p.group() + in_group);
      std::int64_t c = 0;
      for (; c + lanes <= p.q.width; c += lanes)
        hn::StoreU(hn::MulAdd(scale, hn::Load(floats, from + c), hn::LoadU(floats, to + c)), floats, to + c);
      for (; c < p.q.width; ++c) to[c] = std::fma(static_cast<float>(p.scale), from[c], to[c]);
    }
  }
}

/// One (sequence, key head), chunk by chunk.
void retrace(const Problem& p, const AttentionForward<float>& f, const AttentionWork& work,
             const AttentionGradients<float>& gradients) {
  Scratch scratch;
  Retracing r(p, f, work, scratch);
  r.part = {scratch.take(r.rows * r.width), scratch.take<std::uint8_t>(r.group * query_blocks(work))};
  clear_queries(p, work, gradients.dq);
  for (std::int64_t begin = 0; begin < p.keys(work.sequence); begin += key_chunk) {
    retrace_chunk(r, gradients, {begin, std::min(begin + key_chunk, p.keys(work.sequence))});
    add_part(p, work, r.part, gradients.dq);
  }
  if (gradients.sinks) retrace_sinks(r, gradients.sinks);
}

/// The chunk of keys that begins at `begin`, alone; what it gives to dq is left in `part`.
void retrace_part(const Problem& p, const AttentionForward<float>& f, const AttentionWork& work,
                  const AttentionGradients<float>& gradients, std::int64_t begin, const QueryPart& part) {
  Scratch scratch;
  Retracing r(p, f, work, scratch);
  r.part = part;
  retrace_chunk(r, gradients, {begin, std::min(begin + key_chunk, p.keys(work.sequence))});
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(retrace);
HWY_EXPORT(retrace_part);
HWY_EXPORT(add_part);
HWY_EXPORT(clear_queries);

namespace {

/// Whether sequences add to the same numbers of the gradient: those of distances, of pairs and of sinks.
bool shares_gradients(const AttentionProblem<float>& problem, const AttentionGradients<float>& gradients) {
  bool shares = gradients.sinks != nullptr;
  for (std::size_t n = 0; n < gradients.terms.size(); ++n)
    shares |= gradients.terms[n] != nullptr &&
              (problem.terms[n].kind == ScoreTermKind::distance || problem.terms[n].kind == ScoreTermKind::pair);
  return shares;
}

/// Whether chunks of one sequence write to the same numbers besides dq.
bool has_other_gradients(const AttentionGradients<float>& gradients) {
  return gradients.sinks != nullptr ||
         std::ranges::any_of(gradients.terms, [](const float* term) { return term != nullptr; });
}

/// One (sequence, key head) by all threads: as many chunks at once as there are threads, their parts of dq added in the
/// order of the chunks, as one thread alone does.
void retrace_together(const AttentionProblem<float>& problem, const AttentionForward<float>& forward,
                      const AttentionWork& work, const AttentionGradients<float>& gradients) {
  constexpr std::int64_t widest_vector = 16;
  const std::int64_t width = (problem.q.width + widest_vector - 1) / widest_vector * widest_vector;
  const std::int64_t chunks = (problem.keys(work.sequence) + key_chunk - 1) / key_chunk;
  const std::int64_t at_once = std::min<std::int64_t>(num_threads(), chunks);
  const std::int64_t size = work.queries * problem.group() * width, flags = problem.group() * query_blocks(work);
  const Workspace<float> sums(size * at_once);
  std::vector<std::uint8_t> touched(static_cast<std::size_t>(flags * at_once));
  auto part = [&](std::int64_t i) { return QueryPart{sums.data() + i * size, touched.data() + i * flags}; };
  HWY_DYNAMIC_DISPATCH(clear_queries)(problem, work, gradients.dq);
  for (std::int64_t first = 0; first < chunks; first += at_once) {
    const std::int64_t count = std::min(at_once, chunks - first);
    parallel(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        HWY_DYNAMIC_DISPATCH(retrace_part)(problem, forward, work, gradients, (first + i) * key_chunk, part(i));
    });
    for (std::int64_t i = 0; i < count; ++i) HWY_DYNAMIC_DISPATCH(add_part)(problem, work, part(i), gradients.dq);
  }
}

}  // namespace

void attention_backward(const AttentionProblem<float>& problem, const AttentionForward<float>& forward,
                        const AttentionGradients<float>& gradients) {
  auto retrace = [&](const AttentionWork& work) { HWY_DYNAMIC_DISPATCH(retrace)(problem, forward, work, gradients); };
  if (shares_gradients(problem, gradients)) {  // each head's sequences in their order, by one thread
    parallel(problem.k.heads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t head = begin; head < end; ++head)
        for (std::int64_t s = 0; s < problem.sequences(); ++s) retrace({s, head, 0, problem.queries(s)});
    });
    return;
  }
  std::vector<AttentionWork> work;  // a sequence without queries too: its keys' gradients are zeros
  for (std::int64_t s : longest_first(problem))
    for (std::int64_t head = 0; head < problem.k.heads; ++head) work.push_back({s, head, 0, problem.queries(s)});
  if (static_cast<int>(work.size()) < num_threads() && !has_other_gradients(gradients)) {
    for (const AttentionWork& piece : work) retrace_together(problem, forward, piece, gradients);
    return;
  }
  parallel(static_cast<std::int64_t>(work.size()), attention_grain(problem, work.size()),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end; ++i) retrace(work[static_cast<std::size_t>(i)]);
           });
}

}  // namespace attune::kernels
#endif
