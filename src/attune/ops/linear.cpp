#include "attune/ops/linear.h"

#include <mutex>
#include <utility>
#include <vector>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/arithmetic.h"
#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/reference/arithmetic.h"
#include "attune/kernels/reference/matmul.h"
#include "attune/ops/dispatch.h"

namespace attune {

using kernels::MatmulStart;
using kernels::Matrix;
using kernels::PackedMatrix;

/// From so many rows on, packing costs nothing beside the multiplication, and a weight in training changes after each
/// step: it is packed block by block on the way, which keeps no second copy of the model.
constexpr std::int64_t many_rows = 1024;

struct LinearWeight::Packed {
  struct Copy {
    std::shared_ptr<const PackedMatrix> matrix;
    std::int64_t version = -1;
  };
  std::mutex mutex;
  Copy forward, backward;  // of W^T [in, out] and of W [out, in]

  /// The copy to use for a product of `rows` rows with `matrix`, or none where packing on the way is as good.
  std::shared_ptr<const PackedMatrix> get(Copy& copy, const Tensor& weight, std::int64_t rows,
                                          const Matrix<float>& matrix) {
    std::lock_guard lock(mutex);
    const std::int64_t version = weight.version();
    if (copy.version != version) {
      copy = {};
      if (rows >= many_rows && weight.grad_link() != nullptr) return nullptr;
      copy = {std::make_shared<const PackedMatrix>(matrix), version};
    }
    return copy.matrix;
  }
};

namespace {

/// W^T [in, out], whatever the layout.
template <class T>
Matrix<T> transposed_weight(const LinearWeight& w) {
  Matrix<T> m(rows_of<T>(w.tensor()));
  return w.in_by_out() ? m : m.transposed();
}

template <class T>
const T* pointer_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

}  // namespace

LinearWeight::LinearWeight(Tensor weight, bool in_by_out)
    : weight_(std::move(weight)), in_by_out_(in_by_out), packed_(std::make_shared<Packed>()) {
  check(weight_.rank() == 2 && weight_.is_contiguous(), "a linear layer's weight is a contiguous matrix, not {}",
        weight_.shape());
}

void LinearWork::forward(const Tensor& x, const LinearWeight& weight, const Tensor& bias, const Tensor& y) {
  dispatch("linear", x.dtype(), [&]<class T>() {
    const MatmulStart<T> start{pointer_or_null<T>(bias), false};
    const Matrix<T> b = transposed_weight<T>(weight);
    if constexpr (std::is_same_v<T, float>) {
      auto& packed = *weight.packed_;
      if (auto copy = packed.get(packed.forward, weight.tensor(), x.row_count(), b))
        return kernels::matmul(rows_of<T>(x), *copy, mutable_rows_of<T>(y), start);
    }
    kernels::matmul(rows_of<T>(x), b, mutable_rows_of<T>(y), start);
  });
}

void LinearWork::input_gradient(const Tensor& dy, const LinearWeight& weight, const Tensor& dx, bool accumulate) {
  dispatch("linear", dy.dtype(), [&]<class T>() {
    const MatmulStart<T> start{nullptr, accumulate};
    const Matrix<T> b = transposed_weight<T>(weight).transposed();
    if constexpr (std::is_same_v<T, float>) {
      auto& packed = *weight.packed_;
      if (auto copy = packed.get(packed.backward, weight.tensor(), dy.row_count(), b))
        return kernels::matmul(rows_of<T>(dy), *copy, mutable_rows_of<T>(dx), start);
    }
    kernels::matmul(rows_of<T>(dy), b, mutable_rows_of<T>(dx), start);
  });
}

void LinearWork::weight_gradient(const Tensor& dy, const Tensor& x, bool in_by_out, const Tensor& dw, bool accumulate) {
  dispatch("linear", dy.dtype(), [&]<class T>() {
    const Matrix<T> of_x(rows_of<T>(x)), of_dy(rows_of<T>(dy));
    const MatmulStart<T> start{nullptr, accumulate};
    if (in_by_out)
      kernels::matmul(of_x.transposed(), of_dy, mutable_rows_of<T>(dw), start);
    else
      kernels::matmul(of_dy.transposed(), of_x, mutable_rows_of<T>(dw), start);
  });
}

void LinearWork::bias_gradient(const Tensor& dy, const Tensor& db) {
  dispatch("linear", dy.dtype(), [&]<class T>() { kernels::add_column_sums(rows_of<T>(dy), db.mutable_values<T>()); });
}

void check_linear(std::string_view operation, const Tensor& x, const LinearWeight& weight, const Tensor& bias) {
  const Tensor& w = weight.tensor();
  check(x.rank() >= 1 && x.width() == weight.in_features() && x.dtype() == w.dtype(),
        "{}: x {} {} does not fit a weight {} {} with {} inputs", operation, name_of(x.dtype()), x.shape(),
        name_of(w.dtype()), w.shape(), weight.in_features());
  if (!bias.defined()) return;
  check(bias.shape() == Shape{weight.out_features()} && bias.dtype() == w.dtype() && bias.is_contiguous(),
        "{}: bias {} {} does not fit a weight {} {} with {} outputs", operation, name_of(bias.dtype()), bias.shape(),
        name_of(w.dtype()), w.shape(), weight.out_features());
}

Tensor linear(const Tensor& x, const LinearWeight& weight, const Tensor& bias) {
  check_linear("linear", x, weight, bias);
  std::vector<std::int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
  sizes.back() = weight.out_features();
  Tensor y = Tensor::empty(Shape(sizes), x.dtype());
  LinearWork::forward(x, weight, bias, y);
  return record("linear", y, {x, weight.tensor(), bias},
                [x = x.detached(), weight](const Tensor& dy, Gradients& gradients) {
                  if (gradients.wanted(0)) {
                    Gradients::Target dx = gradients.target(0);
                    LinearWork::input_gradient(dy, weight, dx.tensor, !dx.fresh);
                  }
                  if (gradients.wanted(1)) {
                    Gradients::Target dw = gradients.target(1);
                    LinearWork::weight_gradient(dy, x, weight.in_by_out(), dw.tensor, !dw.fresh);
                  }
                  if (gradients.wanted(2)) LinearWork::bias_gradient(dy, gradients.accumulator(2));
                });
}

}  // namespace attune
