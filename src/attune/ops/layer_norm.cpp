#include "attune/ops/layer_norm.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/layer_norm.h"
#include "attune/kernels/reference/layer_norm.h"
#include "attune/ops/dispatch.h"

namespace attune {

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  for (const Tensor* parameter : {&weight, &bias})
    check(x.rank() > 0 && parameter->shape() == Shape{x.width()} && parameter->dtype() == x.dtype(),
          "layer_norm: parameter {} {} does not fit x {} {}", name_of(parameter->dtype()), parameter->shape(),
          name_of(x.dtype()), x.shape());
  check(epsilon >= 0, "layer_norm: epsilon must not be negative, got {}", epsilon);
  Tensor y = Tensor::like(x), mean = Tensor::empty({x.row_count()}, x.dtype()), inverse = Tensor::like(mean);  // [rows]
  dispatch("layer_norm", x.dtype(), [&]<class T>() {
    kernels::layer_norm(rows_of<T>(x), {weight.values<T>(), bias.values<T>()}, epsilon, mutable_rows_of<T>(y),
                        {mean.mutable_values<T>(), inverse.mutable_values<T>()});
  });
  return record("layer_norm", y, {x, weight, bias},
                [x = x.detached(), weight = weight.detached(), mean, inverse](const Tensor& dy, Gradients& gradients) {
                  Tensor dx = gradients.wanted(0) ? reusable_or_like(x) : Tensor();
                  Tensor dweight = gradients.wanted(1) ? gradients.accumulator(1) : Tensor();
                  Tensor dbias = gradients.wanted(2) ? gradients.accumulator(2) : Tensor();
                  dispatch("layer_norm", x.dtype(), [&]<class T>() {
                    kernels::NormGradient<T> d;
                    if (dx.defined()) d.x = mutable_rows_of<T>(dx);
                    if (dweight.defined()) d.weight = dweight.mutable_values<T>();
                    if (dbias.defined()) d.bias = dbias.mutable_values<T>();
                    kernels::layer_norm_backward(rows_of<T>(x), weight.values<T>(),
                                                 {mean.mutable_values<T>(), inverse.mutable_values<T>()},
                                                 rows_of<T>(dy), d);
                  });
                  if (dx.defined()) gradients.add(0, dx);
                });
}

}  // namespace attune
