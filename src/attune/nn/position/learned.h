#pragma once

#include "attune/nn/batch.h"
#include "attune/nn/embedding.h"

namespace attune {

/// A vector learned for each place in a sequence (Devlin et al. 2019; Radford et al. 2019). The table bounds the
/// length; stretched_to() reads between its rows, so that a trained model takes longer sequences (Dosovitskiy et al.
/// 2021, section 3.2, in one dimension).
class LearnedPositions {
 public:
  LearnedPositions() = default;
  /// `first`: the row of position 0; those before it are never looked at (OPT keeps two).
  LearnedPositions(const Weights& w, std::int64_t count, std::int64_t width, double deviation, std::int64_t first = 0)
      : table_(w, first + count, width, {}, deviation), first_(first) {}

  /// Sequences of up to `length` tokens: their positions are spread evenly over the table. Throws Error where the table
  /// is longer.
  LearnedPositions stretched_to(std::int64_t length) const;

  std::int64_t longest() const { return between_.defined() ? between_.dim(0) : table_.count() - first_; }

  /// Returns [tokens, width]. Throws Error with both numbers where a sequence is longer than the positions.
  Tensor operator()(const Batch& batch) const;

 private:
  Embedding table_;
  std::int64_t first_ = 0;
  Tensor between_;  // [length, rows of the table], how much of each row is in each place; not defined: not stretched
};

}  // namespace attune
