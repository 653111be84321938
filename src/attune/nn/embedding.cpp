#include "attune/nn/embedding.h"

#include "attune/nn/quantised_weight.h"

namespace attune {

Embedding::Embedding(const Weights& w, std::int64_t count, std::int64_t width, std::optional<std::int64_t> padding_idx,
                     double deviation)
    : blocks_(w.blocks("weight", {count, width})), padding_idx_(padding_idx), linears_(w.linears()) {
  if (!blocks_) table_ = w.parameter("weight", {count, width}, Initial::normal(deviation));
}

Tensor Embedding::operator()(const Tensor& ids) const {
  return blocks_ ? quantised_embedding(*blocks_, ids) : embedding(table_, ids, padding_idx_);
}

Tensor Embedding::table() const { return blocks_ ? dequantise(*blocks_) : table_; }

std::shared_ptr<const WeightMatrix> Embedding::as_matrix() const {
  if (blocks_) return std::make_shared<QuantisedWeight>(*blocks_);
  if (linears_ == LinearFormat::int8) return std::make_shared<RoundedMatrix>(Int8Weight(table_));
  return std::make_shared<DenseWeight>(LinearWeight(table_, false));
}

}  // namespace attune
