#include "attune/ops/rms_norm.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/rms_norm.h"
#include "attune/kernels/reference/rms_norm.h"
#include "attune/ops/dispatch.h"

namespace attune {

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  check(x.rank() > 0 && weight.shape() == Shape{x.width()} && weight.dtype() == x.dtype(),
        "rms_norm: weight {} {} does not fit x {} {}", name_of(weight.dtype()), weight.shape(), name_of(x.dtype()),
        x.shape());
  check(epsilon >= 0, "rms_norm: epsilon must not be negative, got {}", epsilon);
  Tensor y = Tensor::like(x), inverse = Tensor::empty({x.row_count()}, x.dtype());  // [rows]
  dispatch("rms_norm", x.dtype(), [&]<class T>() {
    kernels::rms_norm(rows_of<T>(x), weight.values<T>(), epsilon, mutable_rows_of<T>(y), inverse.mutable_values<T>());
  });
  return record("rms_norm", y, {x, weight},
                [x = x.detached(), weight = weight.detached(), inverse](const Tensor& dy, Gradients& gradients) {
                  Tensor dx = gradients.wanted(0) ? reusable_or_like(x) : Tensor();
                  Tensor dweight = gradients.wanted(1) ? gradients.accumulator(1) : Tensor();
                  dispatch("rms_norm", x.dtype(), [&]<class T>() {
                    kernels::NormGradient<T> d;
                    if (dx.defined()) d.x = mutable_rows_of<T>(dx);
                    if (dweight.defined()) d.weight = dweight.mutable_values<T>();
                    kernels::rms_norm_backward(rows_of<T>(x), weight.values<T>(), inverse.values<T>(), rows_of<T>(dy),
                                               d);
                  });
                  if (dx.defined()) gradients.add(0, dx);
                });
}

}  // namespace attune
