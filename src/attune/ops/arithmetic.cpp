#include "attune/ops/arithmetic.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/arithmetic.h"
#include "attune/kernels/reference/arithmetic.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::like(a);
  dispatch("multiply", a.dtype(),
           [&]<class T>() { kernels::multiply(rows_of<T>(a), rows_of<T>(b), mutable_rows_of<T>(y)); });
  return y;
}

Tensor scaled(const Tensor& x, double factor) {
  Tensor y = Tensor::like(x);
  dispatch("scale", x.dtype(),
           [&]<class T>() { kernels::scale(rows_of<T>(x), static_cast<T>(factor), mutable_rows_of<T>(y)); });
  return y;
}

Tensor total(std::string_view operation, const Tensor& x, double factor) {
  double sum =
      dispatch(operation, x.dtype(), [&]<class T>() { return static_cast<double>(kernels::sum(rows_of<T>(x))); });
  return record(operation, Tensor::scalar(sum * factor, x.dtype()), {x},
                [shape = x.shape(), type = x.dtype(), factor](const Tensor& dy, Gradients& gradients) {
                  gradients.add(0, Tensor::full(shape, dy.item() * factor, type));
                });
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  check_same("add", a, b);
  Tensor y = Tensor::like(a);
  dispatch("add", a.dtype(), [&]<class T>() { kernels::add(rows_of<T>(a), rows_of<T>(b), mutable_rows_of<T>(y)); });
  return record("add", y, {a, b}, [](const Tensor& dy, Gradients& gradients) {
    gradients.add(0, dy);
    gradients.add(1, dy);
  });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  check_same("multiply", a, b);
  return record("multiply", product(a, b), {a, b},
                [a = a.detached(), b = b.detached()](const Tensor& dy, Gradients& gradients) {
                  if (gradients.wanted(0)) gradients.add(0, product(dy, b));
                  if (gradients.wanted(1)) gradients.add(1, product(dy, a));
                });
}

Tensor scale(const Tensor& x, double factor) {
  return record("scale", scaled(x, factor), {x},
                [factor](const Tensor& dy, Gradients& gradients) { gradients.add(0, scaled(dy, factor)); });
}

Tensor clamp(const Tensor& x, double most) {
  check(most >= 0, "clamp: to [{}, {}]: expected a bound of 0 or more", -most, most);
  Tensor y = Tensor::like(x);
  dispatch("clamp", x.dtype(),
           [&]<class T>() { kernels::clamp(rows_of<T>(x), static_cast<T>(most), mutable_rows_of<T>(y)); });
  return record("clamp", y, {x}, [x = x.detached(), most](const Tensor& dy, Gradients& gradients) {
    Tensor dx = Tensor::like(x);
    dispatch("clamp", x.dtype(), [&]<class T>() {
      kernels::clamp_backward(rows_of<T>(x), rows_of<T>(dy), static_cast<T>(most), mutable_rows_of<T>(dx));
    });
    gradients.add(0, dx);
  });
}

Tensor add_row(const Tensor& x, const Tensor& row) {
  check(row.shape() == Shape{x.width()} && row.dtype() == x.dtype(), "add_row: row {} {} does not fit x {} {}",
        name_of(row.dtype()), row.shape(), name_of(x.dtype()), x.shape());
  Tensor y = Tensor::like(x);
  dispatch("add_row", x.dtype(),
           [&]<class T>() { kernels::add_row(rows_of<T>(x), row.values<T>(), mutable_rows_of<T>(y)); });
  return record("add_row", y, {x, row}, [](const Tensor& dy, Gradients& gradients) {
    if (gradients.wanted(1)) {
      Tensor sums = gradients.accumulator(1);
      dispatch("add_row", dy.dtype(),
               [&]<class T>() { kernels::add_column_sums(rows_of<T>(dy), sums.mutable_values<T>()); });
    }
    gradients.add(0, dy);
  });
}

Tensor sum(const Tensor& x) { return total("sum", x, 1.0); }

Tensor mean(const Tensor& x) {
  check(x.numel() > 0, "mean: a tensor {} has no values", x.shape());
  return total("mean", x, 1.0 / static_cast<double>(x.numel()));
}

}  // namespace attune
