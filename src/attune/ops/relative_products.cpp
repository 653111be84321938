#include "attune/ops/relative_products.h"

#include "attune/kernels/cpu/matmul.h"
#include "attune/kernels/reference/matmul.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

using kernels::Matrix;
using kernels::Rows;

/// One head of [rows, heads, width] as a matrix; the only one where all heads share it.
template <class T>
Rows<const T> head_of(const Tensor& x, std::int64_t h) {
  return {x.data<T>() + (x.dim(1) == 1 ? 0 : h) * x.stride(1), x.dim(0), x.dim(2), x.stride(0)};
}
template <class T>
Rows<T> mutable_head_of(const Tensor& x, std::int64_t h) {
  return {x.mutable_data<T>() + (x.dim(1) == 1 ? 0 : h) * x.stride(1), x.dim(0), x.dim(2), x.stride(0)};
}

}  // namespace

Tensor RelativeProducts::make() const {
  const bool by_query = of_.kind == kernels::ScoreTermKind::query;
  const std::int64_t tokens = of_.rows.dim(0), buckets = of_.table.dim(0), count = heads_.count();
  Tensor y = Tensor::empty(by_query ? Shape{tokens, count, buckets} : Shape{count, buckets, tokens}, of_.rows.dtype());
  dispatch("attention", y.dtype(), [&]<class T>() {
    for (std::int64_t h = 0; h < count; ++h) {
      const Matrix<T> rows = head_of<T>(of_.rows, heads_.begin + h), table = head_of<T>(of_.table, heads_.begin + h);
      const Rows<T> out = by_query ? Rows<T>{y.mutable_data<T>() + h * buckets, tokens, buckets, count * buckets}
                                   : Rows<T>{y.mutable_data<T>() + h * buckets * tokens, buckets, tokens, tokens};
      if (by_query)
        kernels::matmul(rows, table.transposed(), out, kernels::MatmulStart<T>{});
      else
        kernels::matmul(table, rows.transposed(), out, kernels::MatmulStart<T>{});
    }
  });
  return y;
}

void RelativeProducts::add_gradients(const Tensor& d, const Tensor& drows, const Tensor& dtable) const {
  const bool by_query = of_.kind == kernels::ScoreTermKind::query;
  const std::int64_t tokens = of_.rows.dim(0), buckets = of_.table.dim(0), count = heads_.count();
  constexpr bool add = true;
  dispatch("attention", d.dtype(), [&]<class T>() {
    for (std::int64_t h = 0; h < count; ++h) {
      const std::int64_t head = heads_.begin + h;
      const Matrix<T> of_keys(d.data<T>() + h * buckets * tokens, buckets, tokens, tokens, 1);
      const Matrix<T> of_queries(d.data<T>() + h * buckets, tokens, buckets, count * buckets, 1);
      const Matrix<T> products = by_query ? of_queries : of_keys.transposed();  // [tokens, buckets]
      if (drows.defined())
        kernels::matmul(products, Matrix<T>(head_of<T>(of_.table, head)), mutable_head_of<T>(drows, head),
                        kernels::MatmulStart<T>{nullptr, add});
      if (dtable.defined())
        kernels::matmul(products.transposed(), Matrix<T>(head_of<T>(of_.rows, head)), mutable_head_of<T>(dtable, head),
                        kernels::MatmulStart<T>{nullptr, add});
    }
  });
}

}  // namespace attune
