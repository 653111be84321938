#include "attune/kernels/cpu/linear_recurrence.h"

#include "attune/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/linear_recurrence.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/linear_recurrence-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// y of the chunk's rows from their sums [rows, e].
static void write_rows(const Chunk& a, const float* out, const HeadRows<float>& y, float* sums) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* row = out + r * a.e;
    float factor = 1.0f;
    if (a.p.normalised) {
      const float sum = row[a.p.v.width];
      factor = sum == 0 ? 0.0f : 1.0f / sum;
      if (sums) sums[a.token(r) * a.p.q.heads + a.head(r)] = sum;
    }
    pack_row(row, a.p.v.width, a.p.v.width, factor, y.at(a.token(r), a.head(r)));
  }
}

/// One sequence and key head from its beginning, or going on from `state` [width, columns], which is then left as it is
/// after the last token.
void run_chunks(const Recurrence& p, std::int64_t s, std::int64_t kv, const RecurrenceResult<float>& result,
                float* continued) {
  Scratch scratch;
  Chunk a(p, kv, scratch);
  float* state = scratch.take(a.width * a.e);
  float* out = scratch.take(recurrence_chunk * a.group * a.e);  // [rows, e]
  bool empty = !continued;
  if (continued)
    load_state(a, continued, state);
  else
    zero(state, a.width * a.e);
  float* kept = result.kept ? result.kept + (kept_before(p, s) * p.k.heads + kv) * p.state_size() : nullptr;

  const std::int64_t begin = p.begin(s), end = p.begin(s + 1);
  for (std::int64_t first = begin, chunk = 0; first < end; first += recurrence_chunk, ++chunk) {
    if (kept && chunk > 0 && chunk % chunks_of_segment == 0) {
      store_state(a, state, kept);
      kept += p.k.heads * p.state_size();
    }
    pack_chunk(a, first, std::min(recurrence_chunk, end - first));
    if (!empty) multiply({a.state_queries, a.d, 1, state, a.e, out, a.e, a.width, true}, a.rows, a.e);
    score_pairs(a);
    for_each_tile(a, 0, a.rows, [&](std::int64_t r, std::int64_t count, std::int64_t seen) HWY_ATTR {
      multiply({a.scores + r * key_block, key_block, 1, a.values, a.e, out + r * a.e, a.e, seen, empty}, count, a.e);
    });
    write_rows(a, out, result.y, result.sums);
    if (continued || first + recurrence_chunk < end) advance(a, state);
    empty = false;
  }
  if (continued) store_state(a, state, continued);
}

/// The sum over all tokens, then every query.
void run_whole(const Recurrence& p, std::int64_t s, std::int64_t kv, const RecurrenceResult<float>& result) {
  Scratch scratch;
  Chunk a(p, kv, scratch);
  float* state = scratch.take(a.width * a.e);
  float* out = scratch.take(recurrence_chunk * a.group * a.e);
  zero(state, a.width * a.e);
  const std::int64_t begin = p.begin(s), end = p.begin(s + 1);
  for (bool summing : {true, false})
    for (std::int64_t first = begin; first < end; first += recurrence_chunk) {
      const std::int64_t tokens = std::min(recurrence_chunk, end - first);
      if (summing) {
        pack_for_state(a, first, tokens);
        advance(a, state);
      } else {
        pack_chunk(a, first, tokens);
        multiply({a.state_queries, a.d, 1, state, a.e, out, a.e, a.width, true}, a.rows, a.e);
        write_rows(a, out, result.y, result.sums);
      }
    }
}

/// One token after the other: each reads and writes the state once.
void run_steps(const Recurrence& p, std::int64_t s, std::int64_t kv, const HeadRows<float>& y, float* states) {
  Scratch scratch;
  Chunk a(p, kv, scratch);
  float* out = scratch.take(a.group * a.e);
  float* state = scratch.take(a.width * a.e);
  load_state(a, states, state);
  for (std::int64_t token = p.begin(s); token < p.begin(s + 1); ++token) {
    pack_chunk(a, token, 1);  // its decay: a.total
    zero(out, a.group * a.e);
    for (std::int64_t c = 0; c < a.width; ++c) {
      const Vector decay = hn::Set(floats, p.decays() ? a.total[c] : 1.0f), key = hn::Set(floats, a.keys[c]);
      for (std::int64_t x = 0; x < a.e; x += lanes) {
        float* at = state + c * a.e + x;
        const Vector now = hn::MulAdd(key, hn::Load(floats, a.values + x), hn::Mul(decay, hn::Load(floats, at)));
        hn::Store(now, floats, at);
        for (std::int64_t g = 0; g < a.group; ++g) {
          const Vector query = hn::Set(floats, a.queries[g * a.d + c]);
          hn::Store(hn::MulAdd(query, now, hn::Load(floats, out + g * a.e + x)), floats, out + g * a.e + x);
        }
      }
    }
    write_rows(a, out, y, nullptr);
  }
  store_state(a, state, states);
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(run_chunks);
HWY_EXPORT(run_whole);
HWY_EXPORT(run_steps);

std::int64_t kept_states(const LinearRecurrence<float>& p) {
  return p.causal ? kept_before(p, p.sequences()) * p.k.heads * p.state_size() : 0;
}

void linear_recurrence(const LinearRecurrence<float>& p, const RecurrenceResult<float>& result) {
  for_each_sequence_and_head(p, [&](std::int64_t s, std::int64_t kv) {
    if (p.causal)
      HWY_DYNAMIC_DISPATCH(run_chunks)(p, s, kv, result, nullptr);
    else
      HWY_DYNAMIC_DISPATCH(run_whole)(p, s, kv, result);
  });
}

void linear_recurrence_continue(const LinearRecurrence<float>& p, const HeadRows<float>& y,
                                std::span<float* const> states) {
  constexpr std::int64_t few = 4;  // from there on a chunk costs less
  for_each_sequence_and_head(p, [&](std::int64_t s, std::int64_t kv) {
    float* state = states[static_cast<std::size_t>(s)] + kv * p.state_size();
    if (p.length(s) <= few)
      HWY_DYNAMIC_DISPATCH(run_steps)(p, s, kv, y, state);
    else
      HWY_DYNAMIC_DISPATCH(run_chunks)(p, s, kv, {.y = y}, state);
  });
}

}  // namespace attune::kernels
#endif
