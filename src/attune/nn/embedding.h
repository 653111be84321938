#pragma once

#include <optional>

#include "attune/nn/linear.h"
#include "attune/ops/embedding.h"

namespace attune {

/// A table of vectors, one for each id.
class Embedding {
 public:
  Embedding() = default;
  /// `padding_idx`: a row that look-ups give no gradient to (transformers' convention for the padding token).
  Embedding(const Weights& w, std::int64_t count, std::int64_t width, std::optional<std::int64_t> padding_idx = {},
            double deviation = 0.02)
      : table_(w.parameter("weight", {count, width}, Initial::normal(deviation))), padding_idx_(padding_idx) {}

  /// ids: [tokens] I64. Returns [tokens, width]; throws Error naming an id that the table does not have.
  Tensor operator()(const Tensor& ids) const { return embedding(table_, ids, padding_idx_); }
  const Tensor& table() const { return table_; }
  /// The same numbers as the matrix of an output layer (tied weights): [count, width] as [out, in].
  std::shared_ptr<const WeightMatrix> as_matrix() const {
    return std::make_shared<DenseWeight>(LinearWeight(table_, false));
  }

 private:
  Tensor table_;
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace attune
