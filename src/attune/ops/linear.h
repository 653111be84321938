#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "attune/kernels/matrix.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// A dense weight matrix and, once it has been used, copies of it in the order in which the matmul reads it. Copies of
/// a LinearWeight share them. They are remade when the tensor has changed (Tensor::version()), so that whoever writes
/// to a weight need not know of them.
class LinearWeight {
 public:
  LinearWeight() = default;
  /// weight: [out, in], or [in, out] where `in_by_out` (GPT-2's Conv1D keeps it so); f32 or f64; a leaf to be trained
  /// or not.
  explicit LinearWeight(Tensor weight, bool in_by_out = false);

  const Tensor& tensor() const { return weight_; }
  std::int64_t in_features() const { return weight_.dim(in_by_out_ ? 0 : 1); }
  std::int64_t out_features() const { return weight_.dim(in_by_out_ ? 1 : 0); }
  bool in_by_out() const { return in_by_out_; }

 private:
  friend struct LinearWork;
  struct Packed;
  Tensor weight_;
  bool in_by_out_ = false;
  std::shared_ptr<Packed> packed_;
};

/// y = x W^T + b. x: [..., in], last stride 1. bias: [out], or a tensor that is not defined for none. Returns [...,
/// out] of x's type. Each value is one chain of fused multiply-adds that begins with the bias and goes through `in` in
/// order: a row gives the same bits whatever else is in the batch. The gradient of the weight is added straight into
/// its accumulated gradient. Throws Error where shapes or types do not fit.
Tensor linear(const Tensor& x, const LinearWeight& weight, const Tensor& bias = {});

/// Throws Error in the name of `operation` where x, weight and bias do not fit.
void check_linear(std::string_view operation, const Tensor& x, const LinearWeight& weight, const Tensor& bias);

/// The arithmetic of linear() without the tape, for operations that are fused with it. All matrices of one type.
struct LinearWork {
  /// y = x W^T + b.
  static void forward(const Tensor& x, const LinearWeight& weight, const Tensor& bias, const Tensor& y);
  /// dx = dy W, or dx += dy W.
  static void input_gradient(const Tensor& dy, const LinearWeight& weight, const Tensor& dx, bool accumulate);
  /// dW = dy^T x (in the weight's own layout), or dW += dy^T x: a sum over rows in their order.
  static void weight_gradient(const Tensor& dy, const Tensor& x, bool in_by_out, const Tensor& dw, bool accumulate);
  /// db += sum of dy's rows, in a fixed order.
  static void bias_gradient(const Tensor& dy, const Tensor& db);
};

}  // namespace attune
