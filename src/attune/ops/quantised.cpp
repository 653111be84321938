#include "attune/ops/quantised.h"

#include <algorithm>
#include <vector>

#include "attune/autograd/tape.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/quantise.h"
#include "attune/kernels/cpu/quantised_matmul.h"
#include "attune/kernels/reference/dequantise.h"
#include "attune/kernels/reference/quantised_matmul.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/indices.h"
#include "attune/ops/linear.h"

namespace attune {

using kernels::QuantisedRows;

Tensor dequantise(const QuantisedTensor& x, DType type) {
  Tensor y = Tensor::empty(x.shape(), DType::F32);
  const QuantisedRows rows(x);
  const kernels::Rows<float> to = mutable_rows_of<float>(y);
  if (y.numel() > 0)
    parallel(rows.count, std::max<std::int64_t>(1, (1 << 13) / rows.width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        kernels::dequantise(rows.format, rows[i], {to[i], static_cast<std::size_t>(to.width)});
    });
  return type == DType::F32 ? y : y.to(type);
}

QuantisedTensor quantise(const Tensor& x, QuantisedFormat format) {
  check(is_float(x.dtype()), "quantising: {} {} holds no floats", name_of(x.dtype()), x.shape());
  QuantisedTensor y = QuantisedTensor::empty(x.shape(), format);
  const Tensor values = (x.dtype() == DType::F32 ? x : x.to(DType::F32)).contiguous();
  kernels::quantise(format, rows_of<float>(values), y.mutable_bytes().data());
  return y;
}

namespace {

void check_operands(const Tensor& x, const QuantisedTensor& weight, const Tensor& bias) {
  check(weight.shape().rank() == 2, "quantised linear: a weight is a matrix, not {}", weight.shape());
  check(x.rank() >= 1 && x.width() == weight.width(), "quantised linear: x {} does not fit a weight {} {}", x.shape(),
        name_of(weight.format()), weight.shape());
  if (!bias.defined()) return;
  check(bias.shape() == Shape{weight.dim(0)} && bias.dtype() == x.dtype() && bias.is_contiguous(),
        "quantised linear: bias {} {} does not fit x {} {} and a weight {}", name_of(bias.dtype()), bias.shape(),
        name_of(x.dtype()), x.shape(), weight.shape());
}

}  // namespace

Tensor quantised_linear(const Tensor& x, const QuantisedTensor& weight, const Tensor& bias) {
  check_operands(x, weight, bias);
  std::vector<std::int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
  sizes.back() = weight.dim(0);
  Tensor y = Tensor::empty(Shape(sizes), x.dtype());
  dispatch("quantised linear", x.dtype(), [&]<class T>() {
    kernels::matmul(rows_of<T>(x), QuantisedRows(weight), mutable_rows_of<T>(y),
                    bias.defined() ? bias.data<T>() : nullptr);
  });
  return record("quantised linear", y, {x, bias}, [weight](const Tensor& dy, Gradients& gradients) {
    if (gradients.wanted(0)) {
      Gradients::Target dx = gradients.target(0);
      LinearWork::input_gradient(dy, LinearWeight(dequantise(weight, dy.dtype())), dx.tensor, !dx.fresh);
    }
    if (gradients.wanted(1)) LinearWork::bias_gradient(dy, gradients.accumulator(1));
  });
}

Tensor quantised_embedding(const QuantisedTensor& table, const Tensor& ids, DType type) {
  check(table.shape().rank() == 2, "embedding: the table is a matrix, not {}", table.shape());
  const Tensor rows = checked_indices("embedding", ids, table.dim(0));
  Tensor y = Tensor::empty({rows.numel(), table.width()}, type);
  dispatch("embedding", type, [&]<class T>() {
    kernels::gather_rows(QuantisedRows(table), rows.values<std::int64_t>(), mutable_rows_of<T>(y));
  });
  return y;
}

}  // namespace attune
