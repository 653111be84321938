#pragma once

#include <string_view>
#include <vector>

#include "attune/ops/attention.h"
#include "attune/ops/relative_products.h"

namespace attune {

/// A kernel's problem for some heads, all but its tensors q, k and v, and what its score terms point to.
template <class T>
struct PreparedAttention {
  std::vector<Tensor> products;  // one a term; not defined where its numbers are the rule's own
  std::vector<kernels::ScoreTerm<T>> terms;
  kernels::AttentionProblem<T> problem;
};

/// A call of attention, checked and made ready: the mask compiled, the score changes as tensors. Shared by the forward
/// and the backward pass, and by attention over a cache.
class AttentionSetting {
 public:
  /// k may be undefined where the keys are in a cache. Throws Error in the name of `operation` where the rule or the
  /// sequences do not fit q and k.
  AttentionSetting(std::string_view operation, AttentionSequences sequences, const AttentionRule& rule, const Tensor& q,
                   const Tensor& k);

  const std::vector<ScoreAddition>& additions() const { return additions_; }
  const Tensor& sinks() const { return sinks_; }  // [heads]; not defined: none
  /// The heads of one kernel call after the other: all at once, or a few where numbers are made for them. `group` heads
  /// share a key head.
  std::vector<HeadRange> head_ranges(std::int64_t group) const;
  /// T is the tensors' element type. Lives no longer than this.
  template <class T>
  PreparedAttention<T> prepare(const HeadRange& heads) const;

 private:
  void add_scores(std::string_view operation, const AttentionRule& rule, const Tensor& q, const Tensor& k);

  AttentionSequences sequences_;
  AttentionMask mask_;
  AttentionDropout dropout_;
  double scale_, cap_;
  std::int64_t heads_, smallest_ = 0;
  std::vector<ScoreAddition> additions_;
  Tensor sinks_;
};

}  // namespace attune
