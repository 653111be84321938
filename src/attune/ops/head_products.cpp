#include "attune/ops/head_products.h"

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/reference/matmul.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

using kernels::Matrix;
using kernels::Rows;

/// One head of [rows, heads, width] as a matrix.
template <class T>
Rows<const T> head_of(const Tensor& x, std::int64_t h) {
  return {x.data<T>() + h * x.stride(1), x.dim(0), x.dim(2), x.stride(0)};
}
template <class T>
Rows<T> mutable_head_of(const Tensor& x, std::int64_t h) {
  return {x.mutable_data<T>() + h * x.stride(1), x.dim(0), x.dim(2), x.stride(0)};
}

/// One head's products, [tokens, entries] or [entries, tokens], of a tensor in either layout.
template <class T>
Rows<T> mutable_products_of(const Tensor& y, std::int64_t h, ProductLayout layout) {
  if (layout == ProductLayout::tokens_first) return mutable_head_of<T>(y, h);
  return {y.mutable_data<T>() + h * y.stride(0), y.dim(1), y.dim(2), y.stride(1)};
}
/// The same as [tokens, entries].
template <class T>
Matrix<T> products_of(const Tensor& y, std::int64_t h, ProductLayout layout) {
  if (layout == ProductLayout::tokens_first) return head_of<T>(y, h);
  return Matrix<T>(y.data<T>() + h * y.stride(0), y.dim(1), y.dim(2), y.stride(1), 1).transposed();
}

}  // namespace

Tensor head_products(const Tensor& x, const Tensor& table, ProductLayout layout) {
  check(x.rank() == 3 && table.rank() == 3 && x.dtype() == table.dtype() && x.dim(2) == table.dim(2) &&
            (table.dim(1) == x.dim(1) || table.dim(1) == 1),
        "head_products: x {} {} does not fit a table {} {}: expected [tokens, heads, width] and [entries, heads or 1, "
        "width]",
        name_of(x.dtype()), x.shape(), name_of(table.dtype()), table.shape());
  check(x.dim(2) <= 1 || x.stride(2) == 1, "head_products: the values of one head of {} are not adjacent", x.shape());
  const Tensor rows = table.contiguous();
  auto in_table = [shared = table.dim(1) == 1](std::int64_t h) { return shared ? 0 : h; };
  const bool tokens_first = layout == ProductLayout::tokens_first;
  Tensor y = Tensor::empty(
      tokens_first ? Shape{x.dim(0), x.dim(1), table.dim(0)} : Shape{x.dim(1), table.dim(0), x.dim(0)}, x.dtype());
  dispatch("head_products", x.dtype(), [&]<class T>() {
    for (std::int64_t h = 0; h < x.dim(1); ++h) {
      const Matrix<T> of_x = head_of<T>(x, h), entries = head_of<T>(rows, in_table(h));
      const Rows<T> out = mutable_products_of<T>(y, h, layout);
      if (tokens_first)
        kernels::matmul(of_x, entries.transposed(), out, kernels::MatmulStart<T>{});
      else
        kernels::matmul(entries, of_x.transposed(), out, kernels::MatmulStart<T>{});
    }
  });
  return record("head_products", y, {x, table},
                [x = x.detached(), rows, in_table, layout](const Tensor& dy, Gradients& gradients) {
                  const Tensor d = dy.contiguous();
                  dispatch("head_products", d.dtype(), [&]<class T>() {
                    if (gradients.wanted(0)) {
                      Gradients::Target dx = gradients.target(0);
                      for (std::int64_t h = 0; h < x.dim(1); ++h)
                        kernels::matmul(products_of<T>(d, h, layout), Matrix<T>(head_of<T>(rows, in_table(h))),
                                        mutable_head_of<T>(dx.tensor, h), kernels::MatmulStart<T>{nullptr, !dx.fresh});
                    }
                    if (gradients.wanted(1)) {
                      const Tensor dtable = gradients.accumulator(1);
                      for (std::int64_t h = 0; h < x.dim(1); ++h)
                        kernels::matmul(products_of<T>(d, h, layout).transposed(), Matrix<T>(head_of<T>(x, h)),
                                        mutable_head_of<T>(dtable, in_table(h)),
                                        kernels::MatmulStart<T>{nullptr, true});
                    }
                  });
                });
}

}  // namespace attune
