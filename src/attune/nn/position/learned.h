#pragma once

#include "attune/nn/batch.h"
#include "attune/nn/embedding.h"

namespace attune {

/// A vector learned for each place in a sequence (Devlin et al. 2019; Radford et al. 2019). The table bounds the
/// length.
class LearnedPositions {
 public:
  LearnedPositions() = default;
  LearnedPositions(const Weights& w, std::int64_t count, std::int64_t width, double deviation)
      : table_(w, count, width, {}, deviation) {}

  /// Returns [tokens, width]. Throws Error with both numbers where a sequence is longer than the table.
  Tensor operator()(const Batch& batch) const;

 private:
  Embedding table_;
};

}  // namespace attune
