#pragma once

#include <cstdint>

#include "attune/ops/attention_scores.h"
#include "attune/ops/head_rows.h"

namespace attune {

/// The numbers of a ScoreAddition of kind query or key, for some heads: rows[t, h] . table[bucket, h], laid out as
/// kernels::ScoreTerm has it, [tokens, heads, buckets] or [heads, buckets, tokens]. They are larger than q by buckets /
/// head_dim, so attention makes them for a few heads at a time, and again on the way back.
class RelativeProducts {
 public:
  RelativeProducts(const ScoreAddition& addition, const HeadRange& heads) : of_(addition), heads_(heads) {}

  Tensor make() const;
  /// drows += and dtable += what `d`, the gradient of make()'s result, gives; either may be undefined: not wanted.
  /// Both of the whole tensors' shapes.
  void add_gradients(const Tensor& d, const Tensor& drows, const Tensor& dtable) const;

 private:
  const ScoreAddition& of_;
  HeadRange heads_;
};

}  // namespace attune
