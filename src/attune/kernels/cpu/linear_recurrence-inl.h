// One chunk of a linear recurrence: its packed operands and the products that both directions need, compiled once for
// each instruction set.
#if defined(ATTUNE_KERNELS_CPU_LINEAR_RECURRENCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_LINEAR_RECURRENCE_INL_H_
#undef ATTUNE_KERNELS_CPU_LINEAR_RECURRENCE_INL_H_
#else
#define ATTUNE_KERNELS_CPU_LINEAR_RECURRENCE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "attune/kernels/cpu/linear_recurrence_work.h"
#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/scratch.h"
#include "attune/kernels/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

using Recurrence = LinearRecurrence<float>;
static_assert(recurrence_chunk <= key_block);

// With b the sum of log a from the chunk's beginning to a token (inclusive), the score of query i and key j is the sum
// over values of q_i k_j exp(b_i - b_j). As a product of matrices it is (q_i exp(b_i)) (k_j exp(-b_j)): safe for the
// chunk's leading tokens whose b are within +-`widest`. From the first beyond it on (a head that forgets within a few
// tokens) queries come in runs with a reference of their own, the b of the run's first token: (q_i exp(b_i - r)) (k_j
// exp(r - b_j)), where no b_i - r of the run is beyond +-widest, and keys before the run have faded by its first token.
// All differences are sums of the logarithms between, so that one that is -infinity hides nothing else; and no score
// depends on what follows its query.
constexpr float widest = 16.0f;

/// Queries of tokens [first, end), with exp(b - b of the first), and the keys that they see.
struct QueryRun {
  std::int64_t first = 0, end = 0;
  float *queries, *of_query;  // [rows of the run, d]: scale q times its factors [tokens of the run, d]
  float *keys, *of_key;       // [end, d]: the same
};

/// Operands of one chunk, packed. Rows of q, y and their gradients are (token, query head of the group).
struct Chunk {
  const Recurrence& p;
  const std::int64_t kv, group, width, columns, d, e;  // d, e: width and columns filled up to whole vectors

  float* queries;        // [rows, d]: scale q
  float* state_queries;  // [rows, d]: scale q exp(b), which read the state, and the keys of safe tokens
  float* keys;           // [tokens, d]: k
  float* pair_keys;      // [safe tokens, d]: k exp(-b)
  float* state_keys;     // [tokens, d]: k exp(last b - b), which go into the state
  float* values;         // [tokens, e], with the column of ones
  float* logs;           // [tokens, d]: log a; and the factors that follow from it
  float *from_front, *of_key, *from_back;
  float* turned;   // [d or e, key_block]: a transposed operand
  float* scores;   // [rows, key_block]
  float* total;    // [d]: the chunk's decay, exp(last b)
  float* running;  // [d]
  QueryRun run;    // the one of for_each_run()

  std::int64_t first = 0, tokens = 0, rows = 0;
  std::int64_t safe = 0;  // leading tokens whose b are within bounds

  Chunk(const Recurrence& p, std::int64_t kv, Scratch& scratch)
      : p(p),
        kv(kv),
        group(p.group()),
        width(p.q.width),
        columns(p.columns()),
        d(padded(p.q.width)),
        e(padded(p.columns())) {
    const std::int64_t most = recurrence_chunk, most_rows = most * group;
    const bool decays = p.decays();
    queries = scratch.take(most_rows * d);
    state_queries = decays ? scratch.take(most_rows * d) : queries;
    keys = scratch.take(most * d);
    pair_keys = decays ? scratch.take(most * d) : keys;
    state_keys = decays ? scratch.take(most * d) : keys;
    values = scratch.take(most * e);
    for (float** x : {&logs, &from_front, &of_key, &from_back}) *x = scratch.take(decays ? most * d : 0);
    turned = scratch.take(std::max(d, e) * key_block);
    scores = scratch.take(most_rows * key_block);
    total = scratch.take(d);
    running = scratch.take(d);
    run.queries = scratch.take(decays ? most_rows * d : 0);
    for (float** x : {&run.of_query, &run.keys, &run.of_key}) *x = scratch.take(decays ? most * d : 0);
  }
  std::int64_t head(std::int64_t row) const { return kv * group + row % group; }
  std::int64_t token(std::int64_t row) const { return first + row / group; }
  const float* query(std::int64_t row) const { return p.q.at(token(row), head(row)); }
};

/// out = x * factors, over whole vectors; out may be x.
HWY_INLINE void times(const float* x, const float* factors, std::int64_t n, float* out) {
  for (std::int64_t c = 0; c < n; c += lanes)
    hn::Store(hn::Mul(hn::Load(floats, x + c), hn::Load(floats, factors + c)), floats, out + c);
}
/// exp(x), 0 below exp(-80), where products would become subnormal numbers, which are slow and say nothing.
HWY_INLINE void exp_of(const float* x, std::int64_t n, float* out) {
  const Vector least = hn::Set(floats, -80.0f);
  for (std::int64_t c = 0; c < n; c += lanes) {
    const Vector v = hn::Load(floats, x + c);
    hn::Store(hn::IfThenZeroElse(hn::Lt(v, least), math::exp(floats, v)), floats, out + c);
  }
}
HWY_INLINE void add_to(const float* x, std::int64_t n, float* sum) {
  for (std::int64_t c = 0; c < n; c += lanes)
    hn::Store(hn::Add(hn::Load(floats, sum + c), hn::Load(floats, x + c)), floats, sum + c);
}
HWY_INLINE void zero(float* x, std::int64_t n) { std::memset(x, 0, static_cast<std::size_t>(n) * sizeof(float)); }

/// sum += the logs of a token; whether it is within bounds.
HWY_INLINE bool add_logs(const Chunk& a, std::int64_t token, float* sum) {
  add_to(a.logs + token * a.d, a.d, sum);
  auto largest = hn::Zero(floats);
  for (std::int64_t c = 0; c < a.d; c += lanes) largest = hn::Max(largest, hn::Abs(hn::Load(floats, sum + c)));
  return !(largest_lane(largest) > widest);
}

/// log a of the chunk's tokens, the decay over the chunk, and how many tokens are safe.
static void read_decays(Chunk& a) {
  const bool per_token = a.p.token_decay.data != nullptr;
  zero(a.running, a.d);
  for (std::int64_t j = 0; j < a.tokens; ++j) {
    float* log = a.logs + j * a.d;
    if (per_token) {
      pack_row(a.p.token_decay.at(a.first + j, a.kv), a.width, a.d, 1.0f, log);
    } else {
      std::fill_n(log, a.width, a.p.head_decay[static_cast<std::size_t>(a.kv)]);
      std::fill(log + a.width, log + a.d, 0.0f);
    }
    if (!add_logs(a, j, a.running)) a.safe = std::min(a.safe, j);
  }
  exp_of(a.running, a.d, a.total);
}

/// Factors of the queries, and of the keys within the chunk.
static void decays_from_front(Chunk& a) {
  zero(a.running, a.d);
  for (std::int64_t j = 0; j < a.tokens; ++j) {
    add_to(a.logs + j * a.d, a.d, a.running);
    exp_of(a.running, a.d, a.from_front + j * a.d);
    if (j >= a.safe) continue;
    for (std::int64_t c = 0; c < a.d; c += lanes)
      hn::Store(math::exp(floats, hn::Neg(hn::Load(floats, a.running + c))), floats, a.of_key + j * a.d + c);
  }
  for (std::int64_t r = 0; r < a.rows; ++r)
    times(a.queries + r * a.d, a.from_front + r / a.group * a.d, a.d, a.state_queries + r * a.d);
  times(a.keys, a.of_key, a.safe * a.d, a.pair_keys);
}

/// Factors of the keys that go into the state, summed from the back: no difference of two large sums.
static void decays_from_back(Chunk& a) {
  zero(a.running, a.d);
  for (std::int64_t j = a.tokens - 1; j >= 0; --j) {
    exp_of(a.running, a.d, a.from_back + j * a.d);
    add_to(a.logs + j * a.d, a.d, a.running);
  }
  times(a.keys, a.from_back, a.tokens * a.d, a.state_keys);
}

static void pack_keys_and_values(Chunk& a, std::int64_t first, std::int64_t tokens) {
  a.first = first, a.tokens = a.safe = tokens, a.rows = tokens * a.group;
  for (std::int64_t j = 0; j < tokens; ++j) {
    pack_row(a.p.k.at(first + j, a.kv), a.width, a.d, 1.0f, a.keys + j * a.d);
    float* value = a.values + j * a.e;
    pack_row(a.p.v.at(first + j, a.kv), a.p.v.width, a.e, 1.0f, value);
    if (a.p.normalised) value[a.p.v.width] = 1.0f;
  }
  if (a.p.decays()) read_decays(a);
}

/// Tokens [first, first + tokens) become the chunk.
static void pack_chunk(Chunk& a, std::int64_t first, std::int64_t tokens) {
  pack_keys_and_values(a, first, tokens);
  for (std::int64_t r = 0; r < a.rows; ++r)
    pack_row(a.query(r), a.width, a.d, static_cast<float>(a.p.scale), a.queries + r * a.d);
  if (!a.p.decays()) return;
  decays_from_front(a);
  decays_from_back(a);
}
/// As much of it as advance() needs.
static void pack_for_state(Chunk& a, std::int64_t first, std::int64_t tokens) {
  pack_keys_and_values(a, first, tokens);
  if (a.p.decays()) decays_from_back(a);
}

/// `count` rows of `n` values that begin `stride` apart, transposed into a.turned.
static void turn(const Chunk& a, const float* x, std::int64_t stride, std::int64_t count, std::int64_t n) {
  const float* rows[key_block];
  for (std::int64_t j = 0; j < key_block; ++j) rows[j] = x + std::min(j, count - 1) * stride;
  pack_transposed(rows, padded(count), n, a.turned);
}

/// Packs the run that begins at `first`.
static void pack_run(Chunk& a, std::int64_t first) {
  QueryRun& run = a.run;
  run.first = first, run.end = first;
  zero(a.running, a.d);
  do {
    exp_of(a.running, a.d, run.of_query + (run.end - first) * a.d);
    for (std::int64_t c = 0; c < a.d; c += lanes)
      hn::Store(math::exp(floats, hn::Neg(hn::Load(floats, a.running + c))), floats, run.of_key + run.end * a.d + c);
    ++run.end;
  } while (run.end < a.tokens && add_logs(a, run.end, a.running));
  zero(a.running, a.d);
  for (std::int64_t j = first - 1; j >= 0; --j) {
    add_to(a.logs + (j + 1) * a.d, a.d, a.running);
    exp_of(a.running, a.d, run.of_key + j * a.d);
  }
  times(a.keys, run.of_key, run.end * a.d, run.keys);
  for (std::int64_t r = first * a.group; r < run.end * a.group; ++r)
    times(a.queries + r * a.d, run.of_query + (r / a.group - first) * a.d, a.d,
          run.queries + (r - first * a.group) * a.d);
}

/// Calls work() with each run of the tokens that are not safe in a.run.
template <class Work>
HWY_INLINE void for_each_run(Chunk& a, const Work& work) {
  for (std::int64_t first = a.safe; first < a.tokens; first = a.run.end) {
    pack_run(a, first);
    work();
  }
}

/// Calls work(first row, rows, keys that the last of them sees) for each tile of rows [begin, end).
template <class Work>
HWY_INLINE void for_each_tile(const Chunk& a, std::int64_t begin, std::int64_t end, const Work& work) {
  for (std::int64_t r = begin; r < end; r += tile_rows) {
    const std::int64_t count = std::min<std::int64_t>(tile_rows, end - r);
    work(r, count, (r + count - 1) / a.group + 1);
  }
}

/// 0 for keys after the row's own token.
HWY_INLINE void hide_later(const Chunk& a, float* scores) {
  const std::int64_t to = padded(a.tokens);
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t j = r / a.group + 1; j < to; ++j) scores[r * key_block + j] = 0;
}

/// a.scores[row, key], 0 for later keys.
static void score_pairs(Chunk& a) {
  const auto products = [&](const float* queries, std::int64_t first_row, std::int64_t end_row) HWY_ATTR {
    for_each_tile(a, first_row, end_row, [&](std::int64_t r, std::int64_t count, std::int64_t seen) HWY_ATTR {
      multiply({queries + (r - first_row) * a.d, a.d, 1, a.turned, key_block, a.scores + r * key_block, key_block,
                a.width, true},
               count, padded(seen));
    });
  };
  if (a.safe > 0) turn(a, a.pair_keys, a.d, a.safe, a.width);
  products(a.state_queries, 0, a.safe * a.group);
  for_each_run(a, [&]() HWY_ATTR {
    turn(a, a.run.keys, a.d, a.run.end, a.width);
    products(a.run.queries, a.run.first * a.group, a.run.end * a.group);
  });
  hide_later(a, a.scores);
}

/// state = diag(exp(last b)) state + keys^T values. [width, e]
static void advance(const Chunk& a, float* state) {
  if (a.p.decays())
    for (std::int64_t c = 0; c < a.width; ++c) {
      const Vector factor = hn::Set(floats, a.total[c]);
      for (std::int64_t x = 0; x < a.e; x += lanes)
        hn::Store(hn::Mul(factor, hn::Load(floats, state + c * a.e + x)), floats, state + c * a.e + x);
    }
  multiply({a.state_keys, 1, a.d, a.values, a.e, state, a.e, a.tokens, false}, a.width, a.e);
}

/// Between a state in rows of a.e values and one whose rows are adjacent.
HWY_INLINE void store_state(const Chunk& a, const float* state, float* to) {
  for (std::int64_t c = 0; c < a.width; ++c)
    std::memcpy(to + c * a.columns, state + c * a.e, static_cast<std::size_t>(a.columns) * sizeof(float));
}
HWY_INLINE void load_state(const Chunk& a, const float* from, float* state) {
  for (std::int64_t c = 0; c < a.width; ++c) pack_row(from + c * a.columns, a.columns, a.e, 1.0f, state + c * a.e);
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
