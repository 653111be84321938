#include "attune/ops/combine_rows.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/combine_rows.h"
#include "attune/kernels/reference/combine_rows.h"
#include "attune/ops/dispatch.h"
#include "attune/ops/indices.h"

namespace attune {

Tensor combine_rows(const Tensor& x, const Tensor& weights, const Tensor& indices) {
  check(x.rank() == 2 && weights.rank() == 2 && x.dtype() == weights.dtype() && indices.numel() == weights.numel(),
        "combine_rows: x {} {}, weights {} {} and {} indices: expected [rows, width], [tokens, k] of one type, and an "
        "index for each weight",
        name_of(x.dtype()), x.shape(), name_of(weights.dtype()), weights.shape(), indices.numel());
  const Tensor rows = checked_indices("combine_rows", indices, x);
  Tensor y = Tensor::empty({weights.dim(0), x.dim(1)}, x.dtype());
  dispatch("combine_rows", x.dtype(), [&]<class T>() {
    kernels::combine_rows(rows_of<T>(x), {rows_of<T>(weights), rows.values<std::int64_t>()}, mutable_rows_of<T>(y));
  });
  return record("combine_rows", y, {x, weights},
                [x = x.detached(), weights = weights.detached(), rows](const Tensor& dy, Gradients& gradients) {
                  Tensor dx = gradients.wanted(0) ? gradients.accumulator(0) : Tensor();
                  Tensor dweights = gradients.wanted(1) ? gradients.accumulator(1) : Tensor();
                  dispatch("combine_rows", x.dtype(), [&]<class T>() {
                    kernels::RowCombinationGradient<T> d;
                    if (dx.defined()) d.x = mutable_rows_of<T>(dx);
                    if (dweights.defined()) d.weights = mutable_rows_of<T>(dweights);
                    kernels::combine_rows_backward(rows_of<T>(x), {rows_of<T>(weights), rows.values<std::int64_t>()},
                                                   rows_of<T>(dy), d);
                  });
                });
}

}  // namespace attune
