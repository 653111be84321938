#pragma once

#include <memory>

#include "attune/nn/parameters.h"
#include "attune/ops/cross_entropy.h"
#include "attune/ops/linear.h"
#include "attune/ops/linear_cross_entropy.h"

namespace attune {

/// A weight matrix as a model sees it: y = x W^T + b. It hides the format that the numbers are kept in.
class WeightMatrix {
 public:
  virtual ~WeightMatrix() = default;
  virtual std::int64_t in_features() const = 0;
  virtual std::int64_t out_features() const = 0;
  /// x: [tokens, in]. bias: [out] or not defined. Returns [tokens, out].
  virtual Tensor multiply(const Tensor& x, const Tensor& bias) const = 0;
  /// cross_entropy(multiply(x, bias), labels, options), for an output layer whose logits are too many to keep.
  virtual Tensor cross_entropy_of(const Tensor& x, const Tensor& bias, const Tensor& labels,
                                  const CrossEntropyOptions& options) const {
    return cross_entropy(multiply(x, bias), labels, options);
  }
};

/// f32 (or, for the reference, f64), trainable.
class DenseWeight : public WeightMatrix {
 public:
  explicit DenseWeight(LinearWeight weight) : weight_(std::move(weight)) {}
  std::int64_t in_features() const override { return weight_.in_features(); }
  std::int64_t out_features() const override { return weight_.out_features(); }
  Tensor multiply(const Tensor& x, const Tensor& bias) const override { return linear(x, weight_, bias); }
  Tensor cross_entropy_of(const Tensor& x, const Tensor& bias, const Tensor& labels,
                          const CrossEntropyOptions& options) const override {
    return linear_cross_entropy(x, weight_, bias, labels, options);
  }
  const LinearWeight& weight() const { return weight_; }

 private:
  LinearWeight weight_;
};

/// How a file lays out a linear layer's weight, whether it has a bias, and how it begins.
struct LinearOptions {
  bool bias = true;
  bool in_by_out = false;  // the file holds [in, out], as GPT-2's Conv1D does
  double deviation = 0.02;
};

class Linear {
 public:
  Linear() = default;
  Linear(const Weights& w, std::int64_t in, std::int64_t out, LinearOptions options = {});
  /// Over a matrix that is there already (a tied output): `bias` may be undefined.
  Linear(std::shared_ptr<const WeightMatrix> matrix, Tensor bias)
      : matrix_(std::move(matrix)), bias_(std::move(bias)) {}

  Tensor operator()(const Tensor& x) const { return matrix_->multiply(x, bias_); }
  Tensor cross_entropy_of(const Tensor& x, const Tensor& labels, const CrossEntropyOptions& options) const {
    return matrix_->cross_entropy_of(x, bias_, labels, options);
  }
  const WeightMatrix& matrix() const { return *matrix_; }

 private:
  std::shared_ptr<const WeightMatrix> matrix_;
  Tensor bias_;
};

}  // namespace attune
