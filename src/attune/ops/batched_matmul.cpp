#include "attune/ops/batched_matmul.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/reference/matmul.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

std::int64_t batch_of(const Tensor& x) {
  std::int64_t count = 1;
  for (int i = 0; i + 2 < x.rank(); ++i) count *= x.dim(i);
  return count;
}

/// The b-th matrix of x, its last two dimensions, in the order of the leading ones.
template <class T>
kernels::Matrix<T> matrix_of(const Tensor& x, std::int64_t b) {
  std::int64_t offset = 0;
  for (int i = x.rank() - 3; i >= 0; --i) {
    offset += b % x.dim(i) * x.stride(i);
    b /= x.dim(i);
  }
  return {x.data<T>() + offset, x.dim(-2), x.dim(-1), x.stride(-2), x.stride(-1)};
}

/// y = a c, or y += a c. y is contiguous.
void multiply_all(const Tensor& a, const Tensor& c, const Tensor& y, bool accumulate) {
  const std::int64_t batch = batch_of(y), m = y.dim(-2), n = y.dim(-1);
  dispatch("batched_matmul", y.dtype(), [&]<class T>() {
    auto products = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        kernels::matmul(matrix_of<T>(a, b), matrix_of<T>(c, b),
                        kernels::Rows<T>{y.mutable_data<T>() + b * m * n, m, n, n}, {.accumulate = accumulate});
    };
    if (batch == 1)
      products(0, 1);  // one product divides itself
    else
      parallel(batch, 1, products);
  });
}

void add_product(Gradients& gradients, int input, const Tensor& a, const Tensor& c) {
  if (!gradients.wanted(input)) return;
  Gradients::Target to = gradients.target(input);
  multiply_all(a, c, to.tensor, !to.fresh);
}

}  // namespace

Tensor batched_matmul(const Tensor& a, const Tensor& c) {
  check(a.rank() >= 2 && a.rank() == c.rank() && a.dtype() == c.dtype() && a.dim(-1) == c.dim(-2) &&
            std::ranges::equal(a.shape().sizes().first(static_cast<std::size_t>(a.rank() - 2)),
                               c.shape().sizes().first(static_cast<std::size_t>(a.rank() - 2))),
        "batched_matmul: {} {} cannot be multiplied by {} {}", name_of(a.dtype()), a.shape(), name_of(c.dtype()),
        c.shape());
  std::vector<std::int64_t> sizes(a.shape().sizes().begin(), a.shape().sizes().end());
  sizes.back() = c.dim(-1);
  Tensor y = Tensor::empty(Shape(std::span<const std::int64_t>(sizes)), a.dtype());
  multiply_all(a, c, y, false);
  return record("batched_matmul", y, {a, c},
                [a = a.detached(), c = c.detached()](const Tensor& dy, Gradients& gradients) {
                  add_product(gradients, 0, dy, c.transposed(-2, -1));
                  add_product(gradients, 1, a.transposed(-2, -1), dy);
                });
}

}  // namespace attune
