// What both directions of attention are made of beside the tile, compiled once for each instruction set: the
// exponential, dropout's random numbers and a sequence's keys block by block. Included by Highway's foreach_target.
#if defined(ATTUNE_KERNELS_CPU_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_ATTENTION_INL_H_
#undef ATTUNE_KERNELS_CPU_ATTENTION_INL_H_
#else
#define ATTUNE_KERNELS_CPU_ATTENTION_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "attune/kernels/attention.h"
#include "attune/kernels/cpu/attention_work.h"
#include "attune/kernels/cpu/philox-inl.h"
#include "attune/kernels/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// ---- 2^x
// ---------------------------------------------------------------------------------------------------------------------

/// 2^x for x <= 127 with a relative error below 2e-7; exactly 1 at 0, exactly 0 below -126; NaN stays NaN. 2^x = 2^n
/// 2^f with n the nearest whole number, and a minimax polynomial of degree 6 for 2^f on [-1/2, 1/2].
HWY_INLINE Vector power_of_two(Vector x) {
  const Integers integers;
  const Vector shift = hn::Set(floats, 0x1.8p23f);  // leaves n in the lowest bits
  const Vector shifted = hn::Add(x, shift);
  const Vector f = hn::Sub(x, hn::Sub(shifted, shift));
  Vector p = hn::Set(floats, 0.00015353362f);
  p = hn::MulAdd(p, f, hn::Set(floats, 0.0013398875f));
  p = hn::MulAdd(p, f, hn::Set(floats, 0.009618437f));
  p = hn::MulAdd(p, f, hn::Set(floats, 0.055503324f));
  p = hn::MulAdd(p, f, hn::Set(floats, 0.24022648f));
  p = hn::MulAdd(p, f, hn::Set(floats, 0.6931472f));
  p = hn::MulAdd(p, f, hn::Set(floats, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
  const Vector y = hn::BitCast(floats, hn::Add(hn::BitCast(integers, p), exponent));
  return hn::IfThenElse(hn::Lt(x, hn::Set(floats, -126.0f)), hn::Zero(floats), y);
}

/// One row's place in the generator, and what it does to weights.
struct RowDropout {
  std::uint64_t key, example;
  std::uint32_t position;
  std::uint32_t threshold;  // numbers below are dropped
  float factor;             // 1 / (1 - rate)
};

/// The multipliers, 0 or `factor`, of the row's weights for keys first .. first + count (rounded up); `first` is a
/// multiple of key_block.
static HWY_NOINLINE void dropout_multipliers(const RowDropout& row, std::int64_t first, std::int64_t count,
                                             float* HWY_RESTRICT out) {
  HWY_ALIGN std::uint32_t numbers[key_block];
  for (std::int64_t j = 0; j < count; j += philox_batch)
    philox_blocks(row.key, row.example, row.position, static_cast<std::uint32_t>((first + j) / 4), numbers + j);
  const hn::RebindToUnsigned<Floats> bits;
  const auto threshold = hn::Set(bits, row.threshold);
  const Vector factor = hn::Set(floats, row.factor);
  for (std::int64_t j = 0; j < count; j += lanes) {
    const auto dropped = hn::RebindMask(floats, hn::Lt(hn::Load(bits, numbers + j), threshold));
    hn::Store(hn::IfThenElse(dropped, hn::Zero(floats), factor), floats, out + j);
  }
}

// ---- one sequence's keys, block by block
// -------------------------------------------------------------------------------------

using Problem = AttentionProblem<float>;

/// The queries' scores are made in powers of two: softmax(s) = 2^(s log2 e) / sum.
inline float score_factor(const Problem& p) { return static_cast<float>(p.scale * 1.4426950408889634); }

inline RowDropout row_dropout(const Problem& p, std::int64_t s, std::int64_t i, std::uint64_t head_key) {
  const auto sequence = static_cast<std::size_t>(s);
  return {head_key, static_cast<std::uint64_t>(p.examples[sequence]),
          static_cast<std::uint32_t>(p.first_positions[sequence] + i), drop_threshold(p.dropout.rate),
          1.0f / (1.0f - p.dropout.rate)};
}

/// Pointers to keys (or values) first .. first + count; the first again up to a whole block: its scores there are
/// hidden. Not for paged keys.
template <bool values>
HWY_INLINE void block_rows(const Problem& p, const AttentionWork& work, std::int64_t first, std::int64_t count,
                           const float** rows) {
  if (count <= 0) return;
  const float* row = values ? p.value(work.sequence, first, work.kv_head) : p.key(work.sequence, first, work.kv_head);
  const std::int64_t stride = values ? p.v.token_stride : p.k.token_stride;
  for (std::int64_t j = 0; j < key_block; ++j) rows[j] = row + (j < count ? j : 0) * stride;
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
