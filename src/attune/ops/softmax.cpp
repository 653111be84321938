#include "attune/ops/softmax.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/softmax.h"
#include "attune/kernels/reference/softmax.h"
#include "attune/ops/dispatch.h"

namespace attune {

Tensor softmax(const Tensor& x) {
  Tensor y = Tensor::like(x);
  dispatch("softmax", x.dtype(), [&]<class T>() { kernels::softmax(rows_of<T>(x), mutable_rows_of<T>(y)); });
  return record("softmax", y, {x}, [y](const Tensor& dy, Gradients& gradients) {
    Tensor dx = reusable_or_like(y);
    dispatch("softmax", y.dtype(),
             [&]<class T>() { kernels::softmax_backward(rows_of<T>(y), rows_of<T>(dy), mutable_rows_of<T>(dx)); });
    gradients.add(0, dx);
  });
}

Tensor log_softmax(const Tensor& x) {
  Tensor y = Tensor::like(x);
  dispatch("log_softmax", x.dtype(), [&]<class T>() { kernels::log_softmax(rows_of<T>(x), mutable_rows_of<T>(y)); });
  return record("log_softmax", y, {x}, [y](const Tensor& dy, Gradients& gradients) {
    Tensor dx = reusable_or_like(y);
    dispatch("log_softmax", y.dtype(),
             [&]<class T>() { kernels::log_softmax_backward(rows_of<T>(y), rows_of<T>(dy), mutable_rows_of<T>(dx)); });
    gradients.add(0, dx);
  });
}

}  // namespace attune
