#pragma once

#include <utility>

#include "attune/nn/linear.h"
#include "attune/ops/int8.h"
#include "attune/ops/quantised.h"

namespace attune {

/// Blocks as a file keeps them, mapped; not trainable.
class QuantisedWeight : public WeightMatrix {
 public:
  explicit QuantisedWeight(QuantisedTensor blocks) : blocks_(std::move(blocks)) {}
  std::int64_t in_features() const override { return blocks_.dim(1); }
  std::int64_t out_features() const override { return blocks_.dim(0); }
  Tensor multiply(const Tensor& x, const Tensor& bias) const override { return quantised_linear(x, blocks_, bias); }
  const QuantisedTensor& blocks() const { return blocks_; }

 private:
  QuantisedTensor blocks_;
};

/// Int8, as a file keeps it or a copy; not trainable.
class RoundedMatrix : public WeightMatrix {
 public:
  explicit RoundedMatrix(Int8Weight weight) : weight_(std::move(weight)) {}
  std::int64_t in_features() const override { return weight_.in_features(); }
  std::int64_t out_features() const override { return weight_.out_features(); }
  Tensor multiply(const Tensor& x, const Tensor& bias) const override { return int8_linear(x, weight_, bias); }
  const Int8Weight& weight() const { return weight_; }

 private:
  Int8Weight weight_;
};

}  // namespace attune
