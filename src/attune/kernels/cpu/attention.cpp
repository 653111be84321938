#include "attune/kernels/cpu/attention.h"

#include <cmath>
#include <cstring>

#include "attune/base/threads.h"
#include "attune/kernels/cpu/attention_work.h"
#include "attune/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/attention_pages-inl.h"
#include "attune/kernels/cpu/attention_scores-inl.h"

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

/// Takes the block's scores of keys that the row sees into it; they become 2^(score - largest), and 0 where hidden.
HWY_INLINE void merge_scores(float* HWY_RESTRICT scores, std::uint64_t bits, const SeenKeys& seen,
                             const RunningRow& row) {
  const Vector hidden = hn::Set(floats, -HUGE_VALF);
  Vector most = hidden;
  if (sees_whole(bits, seen)) {
    for (std::int64_t j = seen.begin; j < seen.end; j += lanes) most = hn::Max(most, hn::Load(floats, scores + j));
  } else {
    for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
      const Vector score = hn::IfThenElse(lanes_seen(bits, j), hn::Load(floats, scores + j), hidden);
      hn::Store(score, floats, scores + j);
      most = hn::Max(most, score);
    }
  }
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
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    const Vector weight = power_of_two(hn::Sub(hn::Load(floats, scores + j), subtract));
    hn::Store(weight, floats, scores + j);
    sums = hn::Add(sums, weight);
  }
  hn::Store(sums, floats, row.sums);
}

/// The state of one piece of work: rows are its queries times the query heads of the group, query-major.
struct Attending {
  const Problem& p;
  AttentionWork work;
  std::int64_t group, rows, width, value_width;  // value_width: padded
  float *queries, *scores, *weighted, *sums, *largest, *multipliers;
  UnpackedBlock packed;  // for keys that are not read where they lie
  std::uint64_t* bits;   // [queries]: what each sees of the block
  KeyNumbers key_numbers;

  Attending(const Problem& problem, const AttentionWork& piece, Scratch& scratch)
      : p(problem),
        work(piece),
        group(p.group()),
        rows(piece.queries * group),
        width(p.q.width),
        value_width(padded(p.v.width)),
        key_numbers(problem, scratch) {
    queries = scratch.take(rows * width);
    packed = {scratch.take(width * key_block),
              scratch.take(key_block * value_width),
              width,
              value_width,
              scratch.take(key_block),
              scratch.take(key_block)};
    scores = scratch.take(tile_rows * key_block);
    weighted = scratch.take(rows * value_width);
    sums = scratch.take(rows * lanes);
    largest = scratch.take(rows);
    multipliers = scratch.take(key_block);
    bits = scratch.take<std::uint64_t>(piece.queries);
    std::fill_n(weighted, rows * value_width, 0.0f);
    std::fill_n(sums, rows * lanes, 0.0f);
    for (std::int64_t r = 0; r < rows; ++r) {
      pack_row(p.query(work.sequence, query(r), head(r)), width, width, score_factor(p), queries + r * width);
      largest[r] = p.sinks ? p.sinks[head(r)] * log2_e : -HUGE_VALF;
      if (largest[r] != -HUGE_VALF) sums[r * lanes] = 1;  // 2^(sink - largest)
    }
  }
  std::int64_t query(std::int64_t row) const { return work.first + row / group; }
  std::int64_t head(std::int64_t row) const { return work.kv_head * group + row % group; }
  std::uint64_t seen(std::int64_t row) const { return bits[row / group]; }
  ScoreRow score_row(std::int64_t row, std::int64_t block) const {
    return {p, work.sequence, query(row), head(row), block, key_numbers};
  }
  /// A few queries and a long cache: memory is the limit.
  bool reads_once() const { return rows <= streamed_rows; }
  std::int64_t keys_at(std::int64_t block) const {
    return std::clamp<std::int64_t>(p.keys(work.sequence) - block, 0, key_block);
  }
  QuerySpan span() const { return p.span(work.sequence, work.first, work.queries); }
  /// Whether any query sees a key of the block; then what each of them sees.
  Cover look_at(std::int64_t block, std::int64_t count) const {
    const Cover cover = p.mask.cover(span(), {block, block + count});
    if (cover == Cover::all) std::fill_n(bits, work.queries, AttentionMask::first_bits(count));
    if (cover == Cover::some)
      for (std::int64_t i = 0; i < work.queries; ++i)
        bits[i] = p.mask.bits(p.span(work.sequence, work.first + i, 1), block);
    return cover;
  }
};

static void load_key_numbers(const Attending& a, std::int64_t block, std::int64_t count) {
  if (a.p.terms.empty()) return;
  const std::int64_t first = a.p.position(a.work.sequence, a.work.first);
  a.key_numbers.load(a.work.sequence, a.work.kv_head, {block, block + count}, first, first + a.work.queries - 1);
}

static KeyBlock pack_block(const Attending& a, std::int64_t block, std::int64_t count) {
  const float* rows[key_block] = {};
  block_rows<false>(a.p, a.work, block, count, rows);
  pack_transposed(rows, padded(count), a.width, a.packed.keys);
  block_rows<true>(a.p, a.work, block, count, rows);
  for (std::int64_t j = 0; j < count; ++j)
    pack_row(rows[j], a.p.v.width, a.value_width, 1.0f, a.packed.values + j * a.value_width);
  return {.keys = bytes_of(a.packed.keys), .values = bytes_of(a.packed.values), .value_row = a.value_width};
}

/// A block as f32, out of a page or the problem's own rows.
static KeyBlock packed_block(const Attending& a, std::int64_t first) {
  const std::int64_t count = a.keys_at(first);
  if (a.p.pages.layout.tokens == 0) return pack_block(a, first, count);
  return unpack_block(a.p, a.work, {first, first + count}, a.packed);
}

/// Whether a weight of 0 hides each of the block's values: infinities and NaN times 0 are not 0.
static bool values_are_finite(const Attending& a, const KeyBlock& block, std::int64_t count) {
  Vector sum = hn::Zero(floats);
  const Vector zero = hn::Zero(floats);
  if (block.value_scales)
    for (std::int64_t j = 0; j < count; ++j) sum = hn::MulAdd(hn::Set(floats, block.value_scales[j]), zero, sum);
  with_stored(block.format, [&]<class E>() HWY_ATTR {
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t c = 0; c < a.value_width; c += lanes)
        sum = hn::MulAdd(load_stored(reinterpret_cast<const E*>(block.value(j)) + c), zero, sum);
  });
  return sum_of_lanes(sum) == 0;
}

/// Rows of a piece of work, at most tile_rows.
struct TileRows {
  std::int64_t first, count;
};

/// scores = queries keys for keys [seen.begin, seen.end) of the block.
static void multiply_keys(const Attending& a, const KeyBlock& block, const TileRows& rows, const SeenKeys& seen) {
  const float* queries = a.queries + rows.first * a.width;
  float* scores = a.scores + seen.begin;
  const std::byte* keys = block.key_column(seen.begin);
  const std::int64_t width = seen.end - seen.begin;
  if (block.streamed)
    multiply_stored(block.format,
                    {queries, a.width, 1, keys, key_block, scores, key_block, a.width, true, block.with_keys},
                    rows.count, width);
  else
    multiply({queries, a.width, 1, floats_at(keys), key_block, scores, key_block, a.width, true}, rows.count, width);
  if (!block.key_scales) return;
  for (std::int64_t r = 0; r < rows.count; ++r, scores += key_block)
    for (std::int64_t j = 0; j < width; j += lanes)
      hn::Store(hn::Mul(hn::Load(floats, scores + j), hn::Load(floats, block.key_scales + seen.begin + j)), floats,
                scores + j);
}

/// weighted += weights values for keys [keys.begin, keys.end) of the block; the rows' weights begin at `weights`.
static void multiply_values(const Attending& a, const KeyBlock& block, const TileRows& rows, const KeySpan& keys,
                            const float* weights) {
  float* weighted = a.weighted + rows.first * a.value_width;
  const std::byte* values = block.value(keys.begin);
  const std::int64_t count = keys.end - keys.begin;
  if (block.streamed)
    multiply_stored(block.format,
                    {weights + keys.begin, key_block, 1, values, block.value_row, weighted, a.value_width, count, false,
                     block.with_values},
                    rows.count, a.value_width);
  else
    multiply(
        {weights + keys.begin, key_block, 1, floats_at(values), block.value_row, weighted, a.value_width, count, false},
        rows.count, a.value_width);
}

/// multiply_values() for keys that each row sees, and no other.
static void multiply_values_seen(const Attending& a, const KeyBlock& block, const TileRows& rows) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    for (std::uint64_t left = a.seen(rows.first + r); left != 0;) {
      const std::int64_t begin = std::countr_zero(left), end = begin + std::countr_one(left >> begin);
      multiply_values(a, block, {rows.first + r, 1}, {begin, end}, a.scores + r * key_block);
      left &= ~AttentionMask::first_bits(end);
    }
  }
}

/// Some rows meet one block of keys.
static void attend_block(const Attending& a, const KeyBlock& block, const TileRows& rows) {
  std::uint64_t any = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) any |= a.seen(rows.first + r);
  if (any == 0) return;
  const SeenKeys seen(any);
  multiply_keys(a, block, rows, seen);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t row = rows.first + r;
    float* scores = a.scores + r * key_block;
    if (a.seen(row) == 0) {
      std::fill(scores + seen.begin, scores + seen.end, 0.0f);
      continue;
    }
    finish_scores(a.score_row(row, block.first), seen, scores, nullptr);
    merge_scores(scores, a.seen(row), seen,
                 {a.largest + row, a.sums + row * lanes, a.weighted + row * a.value_width, a.value_width});
    auto multiply_weights = [&](const float* by) HWY_ATTR {
      for (std::int64_t j = seen.begin; j < seen.end; j += lanes)
        hn::Store(hn::Mul(hn::Load(floats, scores + j), hn::Load(floats, by + j)), floats, scores + j);
    };
    if (a.p.dropout.rate > 0) {
      const std::uint64_t key = a.p.dropout_key_of(a.head(row));
      dropout_multipliers(row_dropout(a.p, a.work.sequence, a.query(row), key), block.first, seen.end, a.multipliers);
      multiply_weights(a.multipliers);
    }
    if (block.value_scales) multiply_weights(block.value_scales);
  }
  // A weight of 0 changes no bit of a sum; all rows go through the keys that any of them sees.
  if (!block.finite) return multiply_values_seen(a, block, rows);
  multiply_values(a, block, rows, {seen.first, seen.last}, a.scores);
}

static void write_rows(const Attending& a, const HeadRows<float>& y, float* sums) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t token = a.p.query_starts[static_cast<std::size_t>(a.work.sequence)] + a.query(row);
    const float sum = sum_of_lanes(hn::Load(floats, a.sums + row * lanes));
    float* weighted = a.weighted + row * a.value_width;
    pack_row(weighted, a.value_width, a.value_width, sum == 0 ? 0.0f : 1.0f / sum, weighted);
    std::memcpy(y.at(token, a.head(row)), weighted, static_cast<std::size_t>(a.p.v.width) * sizeof(float));
    float* both = sums + a.p.sums_of(a.head(row), token);
    both[0] = a.largest[row] == -HUGE_VALF ? 0.0f : a.largest[row];
    both[1] = sum;
  }
}

void attend(const Problem& p, const AttentionWork& work, const HeadRows<float>& y, float* sums) {
  Scratch scratch;
  std::vector<Attending> heads;
  heads.reserve(static_cast<std::size_t>(work.kv_heads));
  for (std::int64_t head = work.kv_head; head < work.kv_head + work.kv_heads; ++head) {
    heads.emplace_back(p, AttentionWork{work.sequence, head, work.first, work.queries}, scratch);
    heads.back().bits = heads.front().bits;
  }
  const Attending& one = heads.front();
  const StoredBlocks stored(p, work.sequence);
  const bool in_place = stored.whole() && (p.pages.layout.format == CacheFormat::f32 || one.reads_once());
  const KeySpan reach = p.mask.reach(one.span());
  for (std::int64_t first = reach.begin / key_block * key_block; first < reach.end; first += key_block) {
    const std::int64_t count = one.keys_at(first), next = first + key_block;
    const Cover cover = one.look_at(first, count);
    if (cover == Cover::none) continue;
    const std::byte* group = stored.whole() ? stored.group(first) : nullptr;
    if (stored.whole() && !group) continue;
    const bool streamed = in_place && one.reads_once();
    const std::byte* next_group = streamed && next < reach.end ? stored.group(next) : nullptr;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const Attending& a = heads[h];
      KeyBlock block = in_place ? stored.of_head(group, a.work.kv_head) : packed_block(a, first);
      block.first = first, block.streamed = streamed;
      load_key_numbers(a, first, count);
      block.finite = cover == Cover::all || values_are_finite(a, block, count);
      if (streamed && h + 1 < heads.size()) stored.ask_for(group, a.work.kv_head + 1, block);
      if (next_group && h + 1 == heads.size()) stored.ask_for(next_group, one.work.kv_head, block);
      for (std::int64_t row = 0; row < a.rows; row += tile_rows)
        attend_block(a, block, {row, std::min<std::int64_t>(tile_rows, a.rows - row)});
    }
  }
  for (const Attending& a : heads) write_rows(a, y, sums);
}

/// Weights of queries [work.first, + work.queries) for those of the group's heads that are wanted.
void attend_weights(const Problem& p, const AttentionWork& work, const WeightRows& wanted, float* weights) {
  Scratch scratch;
  const Attending a(p, work, scratch);
  const std::int64_t keys = p.keys(work.sequence), length = (keys + key_block - 1) / key_block * key_block;
  float* scores = scratch.take(a.rows * length);  // [rows, keys]
  std::fill_n(scores, a.rows * length, -HUGE_VALF);
  for (std::int64_t block = 0; block < keys; block += key_block) {
    const std::int64_t count = std::min(key_block, keys - block);
    if (a.look_at(block, count) == Cover::none) continue;
    const float* rows[key_block];
    block_rows<false>(p, work, block, count, rows);
    pack_transposed(rows, padded(count), a.width, a.packed.keys);
    load_key_numbers(a, block, count);
    multiply({a.queries, a.width, 1, a.packed.keys, key_block, scores + block, length, a.width, true}, a.rows,
             padded(count));
    for (std::int64_t row = 0; row < a.rows; ++row) {
      float* s = scores + row * length + block;
      const SeenKeys all(AttentionMask::first_bits(count));
      finish_scores(a.score_row(row, block), all, s, nullptr);
      for (std::int64_t j = 0; j < all.end; ++j)
        if ((a.seen(row) >> j & 1) == 0) s[j] = -HUGE_VALF;
    }
  }
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* w = scores + row * length;
    if (!wanted.has_head(a.head(row))) continue;
    Vector most = hn::Set(floats, a.largest[row]);
    for (std::int64_t j = 0; j < length; j += lanes) most = hn::Max(most, hn::Load(floats, w + j));
    const float largest = largest_lane(most) == -HUGE_VALF ? 0.0f : largest_lane(most);
    const Vector subtract = hn::Set(floats, largest);
    Vector sums = hn::Zero(floats);
    for (std::int64_t j = 0; j < length; j += lanes) {
      const Vector weight = power_of_two(hn::Sub(hn::Load(floats, w + j), subtract));
      hn::Store(weight, floats, w + j);
      sums = hn::Add(sums, weight);
    }
    const float sum = sum_of_lanes(sums) + (p.sinks ? std::exp2(p.sinks[a.head(row)] * log2_e - largest) : 0.0f);
    float* out = weights + wanted.row(a.query(row), a.head(row), keys);
    for (std::int64_t j = 0; j < keys; ++j) out[j] = sum == 0 ? 0.0f : w[j] / sum;
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
    for (std::int64_t head = 0, heads = kv_heads_at_once(problem, s); head < problem.k.heads; head += heads)
      for (std::int64_t first = 0; first < problem.queries(s); first += at_once)
        work.push_back(
            {s, head, first, std::min(at_once, problem.queries(s) - first), std::min(heads, problem.k.heads - head)});
  parallel(static_cast<std::int64_t>(work.size()), attention_grain(problem, work.size()),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end; ++i)
               HWY_DYNAMIC_DISPATCH(attend)(problem, work[static_cast<std::size_t>(i)], y, sums);
           });
}

void attention_weights(const AttentionProblem<float>& problem, const WeightRows& wanted, float* weights) {
  if (wanted.heads == 0) return;
  constexpr std::int64_t at_once = 48;
  const std::int64_t pieces = (wanted.queries() + at_once - 1) / at_once;
  const std::int64_t first_kv = wanted.first_head / problem.group();
  const std::int64_t last_kv = (wanted.first_head + wanted.heads - 1) / problem.group();
  parallel(pieces * (last_kv - first_kv + 1), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = wanted.begin + i % pieces * at_once;
      const AttentionWork work{wanted.sequence, first_kv + i / pieces, first, std::min(at_once, wanted.end - first)};
      HWY_DYNAMIC_DISPATCH(attend_weights)(problem, work, wanted, weights);
    }
  });
}

}  // namespace attune::kernels
#endif
