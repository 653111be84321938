#include "attune/ops/exponential_features.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/exponential_features.h"
#include "attune/kernels/reference/exponential_features.h"
#include "attune/ops/dispatch.h"

namespace attune {

Tensor exponential_features(const Tensor& projected, const Tensor& x) {
  check(projected.rank() > 0 && projected.rank() == x.rank() && projected.row_count() == x.row_count() &&
            projected.dtype() == x.dtype(),
        "exponential_features: projected {} {} and x {} {} are not rows of one type", name_of(projected.dtype()),
        projected.shape(), name_of(x.dtype()), x.shape());
  Tensor y = Tensor::like(projected);
  dispatch("exponential_features", x.dtype(), [&]<class T>() {
    kernels::exponential_features(rows_of<T>(projected), rows_of<T>(x), mutable_rows_of<T>(y));
  });
  return record("exponential_features", y, {projected, x},
                [x = x.detached(), y = y.detached()](const Tensor& dy, Gradients& gradients) {
                  Tensor dprojected = Tensor::like(y), dx = Tensor::like(x);
                  dispatch("exponential_features", x.dtype(), [&]<class T>() {
                    kernels::exponential_features_backward(rows_of<T>(x), rows_of<T>(y), rows_of<T>(dy),
                                                           mutable_rows_of<T>(dprojected), mutable_rows_of<T>(dx));
                  });
                  gradients.add(0, dprojected);
                  gradients.add(1, dx);
                });
}

}  // namespace attune
