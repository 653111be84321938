// What happens to a row of scores between the product and the softmax, and to its gradient on the way back: the cap,
// the additions, the mask. Compiled once for each instruction set. Scores are in powers of two: score * log2(e).
#if defined(ATTUNE_KERNELS_CPU_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#undef ATTUNE_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#else
#define ATTUNE_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <vector>

#include "attune/kernels/cpu/attention-inl.h"
#include "attune/kernels/cpu/math-inl.h"
#include "attune/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

static_assert(key_block == 64, "columns of KeyNumbers are found by a shift of 6");

constexpr float log2_e = 1.4426950408889634f;

/// Where a block of keys has its first and last key that any of some queries sees: keys [first, last), and the whole
/// vectors [begin, end) around them.
struct SeenKeys {
  std::int64_t first, last, begin, end;

  explicit SeenKeys(std::uint64_t any)
      : first(any == 0 ? 0 : std::countr_zero(any)),
        last(64 - std::countl_zero(any)),
        begin(first / lanes * lanes),
        end(padded(last)) {}
};

/// The lanes that a query sees, of keys j on in its block's bits.
HWY_INLINE auto lanes_seen(std::uint64_t bits, std::int64_t j) {
  bits >>= j;
  return hn::LoadMaskBits(floats, reinterpret_cast<const std::uint8_t*>(&bits));
}

/// Whether the query sees every key of the vectors [begin, end).
HWY_INLINE bool sees_whole(std::uint64_t bits, const SeenKeys& keys) {
  const std::uint64_t asked = AttentionMask::first_bits(keys.end) & ~AttentionMask::first_bits(keys.begin);
  return (bits & asked) == asked;
}

/// The numbers that keys bring with them (ScoreTermKind::key), of one head and one block of keys: [columns, key_block]
/// a term, so that the keys' numbers for one bucket lie side by side and all lie near each other.
class KeyNumbers {
 public:
  KeyNumbers(const Problem& problem, Scratch& scratch) : p_(problem), blocks_(problem.terms.size()) {
    for (std::size_t n = 0; n < blocks_.size(); ++n)
      if (p_.terms[n].kind == ScoreTermKind::key) blocks_[n] = scratch.take(p_.terms[n].columns * key_block);
  }
  float* of_term(std::size_t n) const { return blocks_[n]; }
  /// Takes over the block for queries at positions [first, last].
  void load(std::int64_t sequence, std::int64_t head, KeySpan keys, std::int64_t first, std::int64_t last) const {
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      if (!blocks_[n]) continue;
      const ScoreTerm<float>& term = p_.terms[n];
      const std::int32_t* buckets = term.buckets - term.smallest;
      const auto [low, high] = std::minmax_element(buckets + keys.begin - last, buckets + keys.end - first);
      const float* from = term.values + term.head_stride * head + p_.key_row(sequence, keys.begin);
      for (std::int64_t c = *low; c <= *high; ++c)
        pack_row(from + c * term.row_stride, keys.end - keys.begin, key_block, 1.0f, blocks_[n] + c * key_block);
    }
  }

 private:
  const Problem& p_;
  std::vector<float*> blocks_;  // [terms]; null for other kinds
};

/// A row of scores: its query, and the block of keys.
struct ScoreRow {
  const Problem& p;
  std::int64_t sequence, query, head, block;  // query: in the sequence; block: its first key
  const KeyNumbers& key_numbers;              // of this head and block

  std::int64_t position() const { return p.position(sequence, query); }
  /// Where the term's numbers of this row begin: those of a distance, of keys, or of the row's buckets.
  std::int64_t base(const ScoreTerm<float>& term) const {
    switch (term.kind) {
      case ScoreTermKind::distance:
        return term.head_stride * head + block - position() - term.smallest;
      case ScoreTermKind::pair:
        return term.head_stride * head + term.row_stride * position() + block;
      case ScoreTermKind::query:
        return term.head_stride * head + term.row_stride * p.query_row(sequence, query);
      default:
        return 0;  // in key_numbers
    }
  }
  const std::int32_t* buckets(const ScoreTerm<float>& term) const {
    return term.buckets + (block - position() - term.smallest);
  }
  std::int64_t keys() const { return std::min(key_block, p.keys(sequence) - block); }
};

/// `count` values, fewer than a vector holds.
HWY_INLINE Vector load_some(const float* from, std::int64_t count) {
  HWY_ALIGN float values[lanes] = {};
  for (std::int64_t j = 0; j < count; ++j) values[j] = from[j];
  return hn::Load(floats, values);
}

enum class BucketRun { equal, rising, falling, mixed };

/// How the buckets of a vector of keys follow each other: the far ones of published tables are equal, the near ones
/// count up or down.
HWY_INLINE BucketRun run_of(hn::Vec<Integers> buckets) {
  const Integers integers;
  const auto first = hn::Set(integers, hn::GetLane(buckets)), step = hn::Iota(integers, 0);
  if (hn::AllTrue(integers, hn::Eq(buckets, first))) return BucketRun::equal;
  if (hn::AllTrue(integers, hn::Eq(buckets, hn::Add(first, step)))) return BucketRun::rising;
  if (hn::AllTrue(integers, hn::Eq(buckets, hn::Sub(first, step)))) return BucketRun::falling;
  return BucketRun::mixed;
}

/// The query's numbers for a vector of buckets.
HWY_INLINE Vector numbers_of_buckets(const float* numbers, const std::int32_t* buckets) {
  const auto index = hn::LoadU(Integers(), buckets);
  switch (run_of(index)) {
    case BucketRun::equal:
      return hn::Set(floats, numbers[buckets[0]]);
    case BucketRun::rising:
      return hn::LoadU(floats, numbers + buckets[0]);
    case BucketRun::falling:
      return hn::Reverse(floats, hn::LoadU(floats, numbers + buckets[0] - lanes + 1));
    default:
      return hn::GatherIndex(floats, numbers, index);
  }
}

/// scores[begin, end) += the term's numbers.
static HWY_NOINLINE void add_term(const ScoreRow& row, std::size_t n, const SeenKeys& seen,
                                  float* HWY_RESTRICT scores) {
  const Vector unit = hn::Set(floats, log2_e);
  const ScoreTerm<float>& term = row.p.terms[n];
  const float* numbers = term.kind == ScoreTermKind::key ? row.key_numbers.of_term(n) : term.values + row.base(term);
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    Vector added = hn::Zero(floats);
    const std::int64_t left = row.keys() - j;
    switch (term.kind) {
      case ScoreTermKind::distance:
        added = hn::LoadU(floats, numbers + j);
        break;
      case ScoreTermKind::pair:
        added = left >= lanes ? hn::LoadU(floats, numbers + j) : load_some(numbers + j, left);
        break;
      case ScoreTermKind::query:
        added = numbers_of_buckets(numbers, row.buckets(term) + j);
        break;
      case ScoreTermKind::key: {
        const Integers integers;
        const std::int32_t* buckets = row.buckets(term) + j;
        const auto column = hn::LoadU(integers, buckets);
        if (run_of(column) == BucketRun::equal) {
          added = hn::Load(floats, numbers + buckets[0] * key_block + j);
        } else {
          const auto key = hn::Iota(integers, static_cast<std::int32_t>(j));
          added = hn::GatherIndex(floats, numbers, hn::Add(hn::ShiftLeft<6>(column), key));
        }
        break;
      }
    }
    hn::Store(hn::MulAdd(added, unit, hn::Load(floats, scores + j)), floats, scores + j);
  }
}

/// In: scale q k. Out: the score, without the mask. `slopes`, where given, gets the cap's derivative.
HWY_INLINE void finish_scores(const ScoreRow& row, const SeenKeys& seen, float* HWY_RESTRICT scores,
                              float* HWY_RESTRICT slopes) {
  if (row.p.cap != 0) {
    const Vector cap = hn::Set(floats, static_cast<float>(row.p.cap) * log2_e);
    const Vector inverse = hn::Set(floats, 1.0f / (static_cast<float>(row.p.cap) * log2_e));
    for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
      const Vector t = math::tanh(floats, hn::Mul(hn::Load(floats, scores + j), inverse));
      hn::Store(hn::Mul(cap, t), floats, scores + j);
      if (slopes) hn::Store(hn::NegMulAdd(t, t, hn::Set(floats, 1.0f)), floats, slopes + j);
    }
  }
  for (std::size_t n = 0; n < row.p.terms.size(); ++n) add_term(row, n, seen, scores);
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
