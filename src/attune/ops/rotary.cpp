#include "attune/ops/rotary.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/rotary.h"
#include "attune/kernels/reference/rotary.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

Tensor turned(const Tensor& x, const RotaryTable& table, bool inverse) {
  Tensor y = Tensor::like(x);
  dispatch("rotary", x.dtype(), [&]<class T>() {
    kernels::rotary({x.data<T>(), x.dim(1), x.dim(2), x.stride(0), x.stride(1)},
                    kernels::Rotation<T>{table.cos.values<T>().data(), table.sin.values<T>().data(), x.dim(0),
                                         table.cos.dim(1), table.pairing, inverse},
                    {y.mutable_data<T>(), x.dim(1), x.dim(2), y.stride(0), y.stride(1)});
  });
  return y;
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryTable& table) {
  check(x.rank() == 3, "rotary: x {} is not [tokens, heads, head_dim]", x.shape());
  check_same("rotary: cosines and sines", table.cos, table.sin);
  check(table.cos.rank() == 2 && table.cos.dim(0) == x.dim(0) && 2 * table.cos.dim(1) <= x.dim(2) &&
            table.cos.dtype() == x.dtype(),
        "rotary: the table {} {} does not fit x {} {}", name_of(table.cos.dtype()), table.cos.shape(),
        name_of(x.dtype()), x.shape());
  check(x.dim(2) <= 1 || x.stride(2) == 1, "rotary: the values of one head of {} are not adjacent", x.shape());
  forbid_gradient("rotary (by its table)", {table.cos, table.sin});
  return record("rotary", turned(x, table, false), {x}, [=](const Tensor& dy, Gradients& gradients) {
    gradients.add(0, turned(dy.contiguous(), table, true));
  });
}

}  // namespace attune
