#include "attune/ops/pooling.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/pooling.h"
#include "attune/kernels/reference/pooling.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

void check_segments(std::string_view operation, const Tensor& x, const Offsets& offsets) {
  check(x.rank() == 2 && x.dim(0) == offsets.total(), "{}: {} rows in segments, but x is {}", operation,
        offsets.total(), x.shape());
}

}  // namespace

Tensor segment_mean(const Tensor& x, const Offsets& offsets) {
  check_segments("segment_mean", x, offsets);
  Tensor y = Tensor::empty({offsets.count(), x.dim(1)}, x.dtype());
  dispatch("segment_mean", x.dtype(),
           [&]<class T>() { kernels::segment_mean(rows_of<T>(x), offsets.starts(), mutable_rows_of<T>(y)); });
  return record("segment_mean", y, {x}, [offsets](const Tensor& dy, Gradients& gradients) {
    Tensor dx = gradients.accumulator(0);
    dispatch("segment_mean", dy.dtype(), [&]<class T>() {
      kernels::segment_mean_backward(rows_of<T>(dy), offsets.starts(), mutable_rows_of<T>(dx));
    });
  });
}

Tensor segment_max(const Tensor& x, const Offsets& offsets) {
  check_segments("segment_max", x, offsets);
  Tensor y = Tensor::empty({offsets.count(), x.dim(1)}, x.dtype()), where = Tensor::empty(y.shape(), DType::I64);
  kernels::Rows<std::int64_t> places{where.mutable_data<std::int64_t>(), y.dim(0), y.dim(1), y.dim(1)};
  dispatch("segment_max", x.dtype(),
           [&]<class T>() { kernels::segment_max(rows_of<T>(x), offsets.starts(), mutable_rows_of<T>(y), places); });
  return record("segment_max", y, {x}, [where, places](const Tensor& dy, Gradients& gradients) {
    Tensor dx = gradients.accumulator(0);
    dispatch("segment_max", dy.dtype(), [&]<class T>() {
      kernels::segment_max_backward(rows_of<T>(dy), kernels::Rows<const std::int64_t>(places), mutable_rows_of<T>(dx));
    });
  });
}

Tensor segment_softmax_pool(const Tensor& scores, const Tensor& x, const Offsets& offsets) {
  check_segments("segment_softmax_pool", x, offsets);
  check(scores.shape() == Shape{x.dim(0), 1} && scores.dtype() == x.dtype(),
        "segment_softmax_pool: scores {} {} do not fit x {} {}", name_of(scores.dtype()), scores.shape(),
        name_of(x.dtype()), x.shape());
  Tensor weights = Tensor::like(scores), y = Tensor::empty({offsets.count(), x.dim(1)}, x.dtype());
  dispatch("segment_softmax_pool", x.dtype(), [&]<class T>() {
    kernels::segment_softmax(scores.contiguous().values<T>(), offsets.starts(), weights.mutable_values<T>());
    kernels::segment_weighted_sum(std::span<const T>(weights.values<T>()), rows_of<T>(x), offsets.starts(),
                                  mutable_rows_of<T>(y));
  });
  return record("segment_softmax_pool", y, {scores, x},
                [weights, x = x.detached(), offsets](const Tensor& dy, Gradients& gradients) {
                  Tensor dscores = gradients.wanted(0) ? gradients.accumulator(0) : Tensor();
                  Tensor dx = gradients.wanted(1) ? gradients.accumulator(1) : Tensor();
                  dispatch("segment_softmax_pool", x.dtype(), [&]<class T>() {
                    kernels::SoftmaxPoolGradient<T> d;
                    if (dscores.defined()) d.scores = dscores.mutable_values<T>();
                    if (dx.defined()) d.x = mutable_rows_of<T>(dx);
                    kernels::softmax_pool_backward(std::span<const T>(weights.values<T>()), rows_of<T>(x),
                                                   offsets.starts(), rows_of<T>(dy), d);
                  });
                });
}

}  // namespace attune
