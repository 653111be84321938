#pragma once

#include <memory>

#include "attune/kernels/cpu/int8_matmul.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// A weight matrix [out, in] rounded to whole numbers of -127 to 127 with a scale for each output. Copies share it.
class Int8Weight {
 public:
  Int8Weight() = default;
  /// weight: [out, in], or [in, out] where `in_by_out`; of a float type. Throws Error for a value that is not finite.
  explicit Int8Weight(const Tensor& weight, bool in_by_out = false);
  /// codes: I8 [out, in]; scales: of a float type, [out] or [out, 1]. Throws Error for other types and shapes, and a
  /// scale that is not finite.
  Int8Weight(const Tensor& codes, const Tensor& scales);

  std::int64_t in_features() const { return matrix_->inputs(); }
  std::int64_t out_features() const { return matrix_->outputs(); }
  std::int64_t bytes() const { return matrix_->bytes(); }
  /// Root of the mean of squares of what rounding left out, over that of the values.
  double error() const { return matrix_->error(); }
  const kernels::Int8Matrix& matrix() const { return *matrix_; }
  Tensor codes() const;   // I8 [out, in]
  Tensor scales() const;  // f32 [out, 1]
  /// [out, in] in f32 or f64: the numbers that are kept.
  Tensor dequantised(DType type = DType::F32) const;

 private:
  std::shared_ptr<const kernels::Int8Matrix> matrix_;
};

/// y = x W^T + b. x: [..., in], last stride 1; bias: [out], or a tensor that is not defined. Returns [..., out] of x's
/// type. In f32 each row of x is rounded to whole numbers of -127 to 127 times its largest magnitude / 127 and the
/// products are summed as whole numbers; a row gives the same bits whatever else is in the batch. In f64 it is the
/// product with the numbers that the weight keeps, whose gradient, of x and the bias alone, is the operation's. Throws
/// Error where shapes or types do not fit.
Tensor int8_linear(const Tensor& x, const Int8Weight& weight, const Tensor& bias = {});

}  // namespace attune
