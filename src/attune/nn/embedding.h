#pragma once

#include <optional>

#include "attune/nn/linear.h"
#include "attune/ops/embedding.h"

namespace attune {

/// A table of vectors, one for each id. Where the file keeps it in blocks they stay mapped, and look-ups make numbers
/// of the wanted rows alone.
class Embedding {
 public:
  Embedding() = default;
  /// `padding_idx`: a row that look-ups give no gradient to (transformers' convention for the padding token).
  Embedding(const Weights& w, std::int64_t count, std::int64_t width, std::optional<std::int64_t> padding_idx = {},
            double deviation = 0.02);

  /// ids: [tokens] I64. Returns [tokens, width]; throws Error naming an id that the table does not have.
  Tensor operator()(const Tensor& ids) const;
  std::int64_t count() const { return blocks_ ? blocks_->dim(0) : table_.dim(0); }
  DType dtype() const { return blocks_ ? DType::F32 : table_.dtype(); }  // of look-ups
  /// [count, width]. Made anew where the file keeps blocks.
  Tensor table() const;
  /// The same numbers as the matrix of an output layer (tied weights): [count, width] as [out, in].
  std::shared_ptr<const WeightMatrix> as_matrix() const;
  /// "scope.name" of `w` is another name of the table: files may leave it out; where it is there it must agree.
  void tied(const Weights& w, std::string_view name) const {
    w.tied(name, [this] { return table(); });
  }

 private:
  Tensor table_;
  std::optional<QuantisedTensor> blocks_;  // in place of table_
  std::optional<std::int64_t> padding_idx_;
  LinearFormat linears_ = LinearFormat::as_stored;
};

}  // namespace attune
