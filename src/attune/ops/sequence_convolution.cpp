#include "attune/ops/sequence_convolution.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/sequence_convolution.h"
#include "attune/kernels/reference/sequence_convolution.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

template <class T>
kernels::SequenceConvolution<T> described(const Tensor& x, const Tensor& filters, const Offsets& offsets) {
  return {filters.data<T>(), x.dim(1), x.dim(2), filters.dim(1), offsets.starts()};
}

}  // namespace

Tensor sequence_convolution(const Tensor& x, const Tensor& filters, const Offsets& offsets) {
  check(x.rank() == 3 && x.dim(0) == offsets.total(), "sequence_convolution: {} rows in sequences, but x is {}",
        offsets.total(), x.shape());
  check(filters.rank() == 2 && filters.dim(0) == x.dim(1) && filters.dim(1) % 2 == 1 && filters.dtype() == x.dtype(),
        "sequence_convolution: filters {} {} are not of odd width, one for each head of x {} {}",
        name_of(filters.dtype()), filters.shape(), name_of(x.dtype()), x.shape());
  const Tensor values = x.contiguous(), weights = filters.contiguous();
  Tensor y = Tensor::like(values);
  dispatch("sequence_convolution", x.dtype(), [&]<class T>() {
    kernels::sequence_convolution(described<T>(values, weights, offsets), values.data<T>(), y.mutable_data<T>());
  });
  return record(
      "sequence_convolution", y, {x, filters}, [values, weights, offsets](const Tensor& given, Gradients& gradients) {
        const Tensor dy = given.contiguous();
        dispatch("sequence_convolution", dy.dtype(), [&]<class T>() {
          const auto c = described<T>(values, weights, offsets);
          if (gradients.wanted(0))
            kernels::sequence_convolution_input_gradient(c, dy.data<T>(), gradients.accumulator(0).mutable_data<T>());
          if (gradients.wanted(1))
            kernels::sequence_convolution_filter_gradient(c, values.data<T>(), dy.data<T>(),
                                                          gradients.accumulator(1).mutable_data<T>());
        });
      });
}

}  // namespace attune
