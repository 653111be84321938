#pragma once

#include <string_view>
#include <vector>

#include "attune/ops/attention.h"

namespace attune {

/// A call of attention, checked and made ready: the mask compiled, the score changes as tensors. Shared by the forward
/// and the backward pass, and by attention over a cache.
class AttentionSetting {
 public:
  /// k may be undefined where the keys are in a cache. Throws Error in the name of `operation` where the rule or the
  /// sequences do not fit q and k.
  AttentionSetting(std::string_view operation, AttentionSequences sequences, const AttentionRule& rule, const Tensor& q,
                   const Tensor& k);

  /// The additions' values, on the tape, in the order of the rule; then the sinks where there are some.
  const std::vector<Tensor>& learned() const { return learned_; }
  bool has_sinks() const { return has_sinks_; }

  /// All of a kernel's problem but its tensors q, k, v. T is their element type.
  template <class T>
  kernels::AttentionProblem<T> problem(std::vector<kernels::ScoreTerm<T>>& terms) const;

 private:
  void add_terms(std::string_view operation, const AttentionRule& rule, const Tensor& q, const Tensor& k);

  AttentionSequences sequences_;
  AttentionMask mask_;
  AttentionDropout dropout_;
  double scale_, cap_;
  std::int64_t smallest_ = 0;
  std::vector<kernels::ScoreTermKind> kinds_;
  std::vector<std::vector<std::int32_t>> buckets_;
  std::vector<Tensor> learned_;
  bool has_sinks_ = false;
};

}  // namespace attune
