#include <utility>

#include "attune/kernels/cpu/linear_recurrence.h"
#include "attune/kernels/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/linear_recurrence_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/linear_recurrence-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// A chunk's gradients. With o = state_queries S + A values and S' = diag(total) S + state_keys^T values, where a score
/// in A is state_queries pair_keys^T for safe queries and a run's queries and keys for others.
struct ChunkGradients {
  float* out;                            // [rows, e]: dL/do
  float* scores;                         // [rows, key_block]: dL/dA
  float* own;                            // [rows]: dL/dA of each query and its own token's key, where there are decays
  float* state_queries;                  // [rows, d]
  float* queries;                        // [rows, d], of those that are not safe
  float *state_keys, *pair_keys, *keys;  // [tokens, d]; keys: by queries that are not safe,
  float* run_keys;                       // and by those of one run
  float* values;                         // [tokens, e]
  float* state;                          // [width, e]: dL/dS', then dL/dS
  float *carried, *row, *x;              // [d]
  double head_decay = 0;

  ChunkGradients(const Chunk& a, Scratch& scratch) {
    const std::int64_t most = recurrence_chunk, rows = most * a.group;
    out = scratch.take(rows * a.e);
    scores = scratch.take(rows * key_block);
    own = scratch.take(rows);
    for (float** to : {&state_queries, &queries}) *to = scratch.take(rows * a.d);
    for (float** to : {&state_keys, &pair_keys, &keys, &run_keys}) *to = scratch.take(most * a.d);
    values = scratch.take(most * a.e);
    state = scratch.take(a.width * a.e);
    for (float** to : {&carried, &row, &x}) *to = scratch.take(a.d);
  }
};

static float dot(const float* x, const float* y, std::int64_t n) {
  auto sum = hn::Zero(floats);
  for (std::int64_t c = 0; c < n; c += lanes) sum = hn::MulAdd(hn::Load(floats, x + c), hn::Load(floats, y + c), sum);
  return sum_of_lanes(sum);
}

/// sum += x y, over a.d values.
HWY_INLINE void add_products(const Chunk& a, const float* x, const float* y, float* sum) {
  for (std::int64_t c = 0; c < a.d; c += lanes)
    hn::Store(hn::MulAdd(hn::Load(floats, x + c), hn::Load(floats, y + c), hn::Load(floats, sum + c)), floats, sum + c);
}

/// dL/do from dL/dy: where y = o / sum, a column more has -(dy . y) / sum.
static void read_output_gradient(const Chunk& a, const RecurrenceForward<float>& f, ChunkGradients& g) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t token = a.token(r), head = a.head(r);
    float* out = g.out + r * a.e;
    const float* dy = f.dy.at(token, head);
    float factor = 1.0f, mean = 0.0f;
    if (a.p.normalised) {
      const float sum = f.sums[token * a.p.q.heads + head];
      factor = sum == 0 ? 0.0f : 1.0f / sum;
      pack_row(f.y.at(token, head), a.p.v.width, a.e, 1.0f, g.values);  // free until later
      pack_row(dy, a.p.v.width, a.e, 1.0f, out);
      mean = dot(out, g.values, a.e) * factor;
    }
    pack_row(dy, a.p.v.width, a.e, factor, out);
    if (a.p.normalised) out[a.p.v.width] = -mean;
  }
}

/// x [rows, e] times the transpose of `state` [width, e]: [rows, d].
static void times_state_turned(const Chunk& a, const float* x, std::int64_t rows, const float* state, float* to) {
  for (std::int64_t c = 0; c < a.width; c += key_block) {
    const std::int64_t count = std::min(key_block, a.width - c);
    turn(a, state + c * a.e, a.e, count, a.e);
    multiply({x, a.e, 1, a.turned, key_block, to + c, a.d, a.e, true}, rows, padded(count));
  }
}

/// dL/dA, and what it gives to the queries and keys. A query's score with its own token's key has no decay in it: where
/// there are decays it is kept apart, so that it does not have to cancel in their gradients.
static void score_gradients(Chunk& a, bool from_state, ChunkGradients& g) {
  turn(a, a.values, a.e, a.tokens, a.e);
  for_each_tile(a, 0, a.rows, [&](std::int64_t r, std::int64_t count, std::int64_t seen) HWY_ATTR {
    multiply({g.out + r * a.e, a.e, 1, a.turned, key_block, g.scores + r * key_block, key_block, a.e, true}, count,
             padded(seen));
  });
  hide_later(a, g.scores);
  if (a.p.decays())
    for (std::int64_t r = 0; r < a.rows; ++r) g.own[r] = std::exchange(g.scores[r * key_block + r / a.group], 0.0f);
  const std::int64_t safe_rows = a.safe * a.group;
  for_each_tile(a, 0, safe_rows, [&](std::int64_t r, std::int64_t count, std::int64_t seen) HWY_ATTR {
    multiply(
        {g.scores + r * key_block, key_block, 1, a.pair_keys, a.d, g.state_queries + r * a.d, a.d, seen, !from_state},
        count, a.d);
  });
  // Of keys and values: sums over the queries from a tile's first token on.
  for (std::int64_t j = 0; j < a.tokens; j += tile_rows) {
    const std::int64_t count = std::min<std::int64_t>(tile_rows, a.tokens - j), r = j * a.group;
    multiply(
        {a.scores + r * key_block + j, 1, key_block, g.out + r * a.e, a.e, g.values + j * a.e, a.e, a.rows - r, true},
        count, a.e);
    multiply({g.scores + r * key_block + j, 1, key_block, a.state_queries + r * a.d, a.d, g.pair_keys + j * a.d, a.d,
              std::max<std::int64_t>(0, safe_rows - r), true},
             count, a.d);
  }
  if (a.safe == a.tokens) return;
  if (!from_state) zero(g.state_queries + safe_rows * a.d, (a.rows - safe_rows) * a.d);
  zero(g.keys, a.tokens * a.d);
  for_each_run(a, [&]() HWY_ATTR {
    const QueryRun& run = a.run;
    const std::int64_t first_row = run.first * a.group, end_row = run.end * a.group;
    for_each_tile(a, first_row, end_row, [&](std::int64_t r, std::int64_t count, std::int64_t seen) HWY_ATTR {
      multiply({g.scores + r * key_block, key_block, 1, run.keys, a.d, g.queries + r * a.d, a.d, seen, true}, count,
               a.d);
    });
    for (std::int64_t r = first_row; r < end_row; ++r)
      times(g.queries + r * a.d, run.of_query + (r / a.group - run.first) * a.d, a.d, g.queries + r * a.d);
    multiply(
        {g.scores + first_row * key_block, 1, key_block, run.queries, a.d, g.run_keys, a.d, end_row - first_row, true},
        run.end, a.d);
    for (std::int64_t j = 0; j < run.end; ++j)
      add_products(a, g.run_keys + j * a.d, run.of_key + j * a.d, g.keys + j * a.d);
  });
}

HWY_INLINE void add_times(const Chunk& a, const float* x, float factor, float* sum) {
  const Vector f = hn::Set(floats, factor);
  for (std::int64_t c = 0; c < a.d; c += lanes)
    hn::Store(hn::MulAdd(hn::Load(floats, x + c), f, hn::Load(floats, sum + c)), floats, sum + c);
}

struct Reached {
  bool state;      // S is not 0: there are tokens before
  bool following;  // dL/dS' is not 0: there are tokens after
};

/// Writes dq of a row, in g.row first. Adds q dq to g.carried, without its own token's part.
static void write_query(const Chunk& a, std::int64_t r, const RecurrenceGradients<float>& to, ChunkGradients& g) {
  const std::int64_t j = r / a.group;
  float* row = g.row;
  if (a.p.decays()) {
    times(g.state_queries + r * a.d, a.from_front + j * a.d, a.d, row);
    if (j >= a.safe) add_to(g.queries + r * a.d, a.d, row);
    add_products(a, a.queries + r * a.d, row, g.carried);
    add_times(a, a.keys + j * a.d, g.own[r], row);
  } else {
    row = g.state_queries + r * a.d;
  }
  pack_row(row, a.width, a.width, static_cast<float>(a.p.scale), to.dq.at(a.token(r), a.head(r)));
}

/// The same of a key; takes k dk from g.carried.
static void write_key(const Chunk& a, std::int64_t j, Reached reached, const RecurrenceGradients<float>& to,
                      ChunkGradients& g) {
  float* row = g.pair_keys + j * a.d;
  if (a.p.decays()) {
    row = g.row;
    if (j < a.safe)
      times(g.pair_keys + j * a.d, a.of_key + j * a.d, a.d, row);
    else
      zero(row, a.d);
    if (a.safe < a.tokens) add_to(g.keys + j * a.d, a.d, row);
    if (reached.following) add_products(a, g.state_keys + j * a.d, a.from_back + j * a.d, row);
    pack_row(row, a.d, a.d, -1.0f, g.x);
    add_products(a, a.keys + j * a.d, g.x, g.carried);
    for (std::int64_t r = j * a.group; r < (j + 1) * a.group; ++r) add_times(a, a.queries + r * a.d, g.own[r], row);
  } else if (reached.following) {
    add_to(g.state_keys + j * a.d, a.d, row);
  }
  std::memcpy(to.dk.at(a.first + j, a.kv), row, static_cast<std::size_t>(a.width) * sizeof(float));
}

/// log a_t reaches each y at t or later through keys before t: with x_i = q_i dq_i - k_i dk_i (value by value) its
/// gradient is the sum of x_i over i >= t in the chunk, and what S' carries.
static void write_gradients(const Chunk& a, Reached reached, const RecurrenceGradients<float>& to, ChunkGradients& g) {
  for (std::int64_t j = a.tokens - 1; j >= 0; --j) {
    for (std::int64_t r = j * a.group; r < (j + 1) * a.group; ++r) write_query(a, r, to, g);
    write_key(a, j, reached, to, g);
    const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(float); };
    std::memcpy(to.dv.at(a.first + j, a.kv), g.values + j * a.e, bytes(a.p.v.width));
    if (to.token_decay.data)
      std::memcpy(to.token_decay.at(a.first + j, a.kv), g.carried, bytes(a.width));
    else if (a.p.decays())
      for (std::int64_t c = 0; c < a.width; ++c) g.head_decay += static_cast<double>(g.carried[c]);
  }
}

/// One chunk: `state` is S, `next` is S' (only used where tokens follow and there are decays).
static void chunk_backward(Chunk& a, const float* state, const float* next, Reached reached,
                           const RecurrenceGradients<float>& to, ChunkGradients& g) {
  if (reached.state) times_state_turned(a, g.out, a.rows, state, g.state_queries);
  score_pairs(a);
  score_gradients(a, reached.state, g);
  zero(g.carried, a.d);
  if (reached.following) {
    multiply({a.state_keys, a.d, 1, g.state, a.e, g.values, a.e, a.width, false}, a.tokens, a.e);
    times_state_turned(a, a.values, a.tokens, g.state, g.state_keys);
    if (a.p.decays())
      for (std::int64_t c = 0; c < a.width; ++c) g.carried[c] = dot(next + c * a.e, g.state + c * a.e, a.e);
  }
  write_gradients(a, reached, to, g);
  if (!reached.state) return;
  if (a.p.decays())
    for (std::int64_t c = 0; c < a.width; ++c) pack_row(g.state + c * a.e, a.e, a.e, a.total[c], g.state + c * a.e);
  multiply({a.state_queries, 1, a.d, g.out, a.e, g.state, a.e, a.rows, false}, a.width, a.e);
}

/// One sequence and key head. Segments from the last to the first: their states are made again from the one kept.
void run_backward(const Recurrence& p, std::int64_t s, std::int64_t kv, const RecurrenceForward<float>& f,
                  const RecurrenceGradients<float>& to, float* head_decay) {
  Scratch scratch;
  Chunk a(p, kv, scratch);
  ChunkGradients g(a, scratch);
  const std::int64_t size = a.width * a.e, begin = p.begin(s), chunks = chunks_of(p.length(s));
  float* states = scratch.take((std::min(chunks, chunks_of_segment) + 1) * size);  // before each chunk, and the last's
  const float* kept = f.kept + kept_before(p, s) * p.k.heads * p.state_size() + kv * p.state_size();
  const auto tokens_of = [&](std::int64_t chunk) {
    return std::min(recurrence_chunk, p.begin(s + 1) - begin - chunk * recurrence_chunk);
  };
  zero(g.state, size);
  for (std::int64_t segment = (chunks - 1) / chunks_of_segment; chunks > 0 && segment >= 0; --segment) {
    const std::int64_t start = segment * chunks_of_segment, count = std::min(chunks_of_segment, chunks - start);
    if (segment == 0)
      zero(states, size);
    else
      load_state(a, kept + (segment - 1) * p.k.heads * p.state_size(), states);
    for (std::int64_t i = 0; i < count && start + i + 1 < chunks; ++i) {
      std::memcpy(states + (i + 1) * size, states + i * size, static_cast<std::size_t>(size) * sizeof(float));
      pack_for_state(a, begin + (start + i) * recurrence_chunk, tokens_of(start + i));
      advance(a, states + (i + 1) * size);
    }
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const std::int64_t chunk = start + i;
      pack_chunk(a, begin + chunk * recurrence_chunk, tokens_of(chunk));
      read_output_gradient(a, f, g);
      chunk_backward(a, states + i * size, states + (i + 1) * size, {chunk > 0, chunk + 1 < chunks}, to, g);
    }
  }
  if (head_decay) *head_decay = static_cast<float>(g.head_decay);
}

/// y_i = q_i S with S the sum over all tokens.
void run_whole_backward(const Recurrence& p, std::int64_t s, std::int64_t kv, const RecurrenceForward<float>& f,
                        const RecurrenceGradients<float>& to) {
  Scratch scratch;
  Chunk a(p, kv, scratch);
  ChunkGradients g(a, scratch);
  float* state = scratch.take(a.width * a.e);
  zero(state, a.width * a.e), zero(g.state, a.width * a.e);
  const std::int64_t begin = p.begin(s), end = p.begin(s + 1);
  for (bool summing : {true, false})
    for (std::int64_t first = begin; first < end; first += recurrence_chunk) {
      pack_chunk(a, first, std::min(recurrence_chunk, end - first));
      if (summing) {
        advance(a, state);
        read_output_gradient(a, f, g);
        multiply({a.state_queries, 1, a.d, g.out, a.e, g.state, a.e, a.rows, false}, a.width, a.e);
        continue;
      }
      read_output_gradient(a, f, g);
      times_state_turned(a, g.out, a.rows, state, g.state_queries);
      times_state_turned(a, a.values, a.tokens, g.state, g.pair_keys);
      multiply({a.state_keys, a.d, 1, g.state, a.e, g.values, a.e, a.width, true}, a.tokens, a.e);
      write_gradients(a, {false, false}, to, g);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(run_backward);
HWY_EXPORT(run_whole_backward);

void linear_recurrence_backward(const LinearRecurrence<float>& p, const RecurrenceForward<float>& f,
                                const RecurrenceGradients<float>& g) {
  const bool per_head = !g.head_decay.empty();
  Workspace<float> parts(per_head ? p.sequences() * p.k.heads : 0);  // [sequences, kv_heads], added up in order
  std::fill(parts.span().begin(), parts.span().end(), 0.0f);
  for_each_sequence_and_head(p, [&](std::int64_t s, std::int64_t kv) {
    if (p.causal) HWY_DYNAMIC_DISPATCH(run_backward)
    (p, s, kv, f, g, per_head ? parts.data() + s * p.k.heads + kv : nullptr);
    else HWY_DYNAMIC_DISPATCH(run_whole_backward)(p, s, kv, f, g);
  });
  if (!per_head) return;
  std::fill(g.head_decay.begin(), g.head_decay.end(), 0.0f);
  for (std::size_t i = 0; i < parts.span().size(); ++i) g.head_decay[i % g.head_decay.size()] += parts.span()[i];
}

}  // namespace attune::kernels
#endif
