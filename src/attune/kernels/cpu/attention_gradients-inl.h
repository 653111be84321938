// The gradients of what was added to the scores. Compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_ATTENTION_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_ATTENTION_GRADIENTS_INL_H_
#undef ATTUNE_KERNELS_CPU_ATTENTION_GRADIENTS_INL_H_
#else
#define ATTUNE_KERNELS_CPU_ATTENTION_GRADIENTS_INL_H_
#endif

#include "attune/kernels/cpu/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels {
namespace HWY_NAMESPACE {

/// gradient += dscores, each where its number came from. Hidden keys have a dscore of 0.
static HWY_NOINLINE void add_term_gradient(const ScoreRow& row, const ScoreTerm<float>& term, const SeenKeys& seen,
                                           const float* HWY_RESTRICT dscores, float* gradient) {
  float* sums = gradient + row.base(term);
  const std::int64_t last = std::min(seen.last, row.keys());
  if (term.kind == ScoreTermKind::distance || term.kind == ScoreTermKind::pair) {
    std::int64_t j = seen.begin;
    for (; j + lanes <= last; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(floats, sums + j), hn::Load(floats, dscores + j)), floats, sums + j);
    for (; j < last; ++j) sums[j] += dscores[j];
    return;
  }
  const std::int32_t* buckets = row.buckets(term);
  std::int64_t j = seen.begin;
  for (; j + lanes <= last; j += lanes) {
    const Vector d = hn::Load(floats, dscores + j);
    switch (run_of(hn::LoadU(Integers(), buckets + j))) {
      case BucketRun::equal:
        sums[buckets[j]] += sum_of_lanes(d);
        break;
      case BucketRun::rising:
        hn::StoreU(hn::Add(hn::LoadU(floats, sums + buckets[j]), d), floats, sums + buckets[j]);
        break;
      case BucketRun::falling: {
        float* from = sums + buckets[j] - lanes + 1;
        hn::StoreU(hn::Add(hn::LoadU(floats, from), hn::Reverse(floats, d)), floats, from);
        break;
      }
      default:
        for (std::int64_t i = j; i < j + lanes; ++i) sums[buckets[i]] += dscores[i];
    }
  }
  for (; j < last; ++j) sums[buckets[j]] += dscores[j];
}

/// The same for the numbers that keys bring: sums [columns, key_block].
static HWY_NOINLINE void add_key_gradient(const ScoreRow& row, const ScoreTerm<float>& term, const SeenKeys& seen,
                                          const float* HWY_RESTRICT dscores, float* HWY_RESTRICT sums) {
  const std::int32_t* buckets = row.buckets(term);
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    if (run_of(hn::LoadU(Integers(), buckets + j)) == BucketRun::equal) {
      float* to = sums + buckets[j] * key_block + j;
      hn::Store(hn::Add(hn::Load(floats, to), hn::Load(floats, dscores + j)), floats, to);
    } else {
      for (std::int64_t i = j; i < j + lanes; ++i) sums[buckets[i] * key_block + i] += dscores[i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attune::kernels
HWY_AFTER_NAMESPACE();

#endif
