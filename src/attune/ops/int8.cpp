#include "attune/ops/int8.h"

#include <vector>

#include "attune/autograd/tape.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/linear.h"

namespace attune {

Int8Weight::Int8Weight(const Tensor& weight, bool in_by_out) {
  check(weight.rank() == 2, "a linear layer's weight is a matrix, not {}", weight.shape());
  const Tensor values = weight.dtype() == DType::F32 ? weight : weight.to(DType::F32);
  const kernels::Matrix<float> matrix(rows_of<float>(values));
  matrix_ = std::make_shared<const kernels::Int8Matrix>(in_by_out ? matrix.transposed() : matrix);
}

Int8Weight::Int8Weight(const Tensor& codes, const Tensor& scales) {
  check(codes.rank() == 2 && codes.dtype() == DType::I8, "the codes of an int8 weight are a matrix of I8, not {} {}",
        name_of(codes.dtype()), codes.shape());
  check(scales.shape() == Shape{codes.dim(0)} || scales.shape() == Shape{codes.dim(0), 1},
        "an int8 weight {} has a scale for each output, not {}", codes.shape(), scales.shape());
  const Tensor rows = codes.contiguous(), values = scales.to(DType::F32).contiguous();
  matrix_ = std::make_shared<const kernels::Int8Matrix>(
      kernels::Rows<const std::int8_t>{rows.data<std::int8_t>(), rows.dim(0), rows.dim(1), rows.dim(1)},
      values.data<float>());
}

Tensor Int8Weight::codes() const {
  Tensor codes = Tensor::empty({out_features(), in_features()}, DType::I8);
  matrix_->write_codes({codes.mutable_data<std::int8_t>(), out_features(), in_features(), in_features()});
  return codes;
}

Tensor Int8Weight::scales() const { return Tensor::from<float>({out_features(), 1}, matrix_->scales()); }

Tensor Int8Weight::dequantised(DType type) const {
  Tensor y = Tensor::empty({out_features(), in_features()});
  matrix_->dequantise(mutable_rows_of<float>(y));
  return type == DType::F32 ? y : y.to(type);
}

Tensor int8_linear(const Tensor& x, const Int8Weight& weight, const Tensor& bias) {
  check(x.rank() >= 1 && x.width() == weight.in_features(), "int8 linear: x {} does not fit a weight [{}, {}]",
        x.shape(), weight.out_features(), weight.in_features());
  check(!bias.defined() ||
            (bias.shape() == Shape{weight.out_features()} && bias.dtype() == x.dtype() && bias.is_contiguous()),
        "int8 linear: the bias does not fit x {} {} and a weight of {} outputs", name_of(x.dtype()), x.shape(),
        weight.out_features());
  std::vector<std::int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
  sizes.back() = weight.out_features();
  Tensor y = Tensor::empty(Shape(sizes), x.dtype());
  dispatch("int8 linear", x.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, float>)
      kernels::matmul(rows_of<T>(x), weight.matrix(), mutable_rows_of<T>(y), bias.defined() ? bias.data<T>() : nullptr);
    else
      LinearWork::forward(x, LinearWeight(weight.dequantised(x.dtype())), bias, y);
  });
  return record("int8 linear", y, {x, bias}, [weight](const Tensor& dy, Gradients& gradients) {
    if (gradients.wanted(0)) {
      Gradients::Target dx = gradients.target(0);
      LinearWork::input_gradient(dy, LinearWeight(weight.dequantised(dy.dtype())), dx.tensor, !dx.fresh);
    }
    if (gradients.wanted(1)) LinearWork::bias_gradient(dy, gradients.accumulator(1));
  });
}

}  // namespace attune
