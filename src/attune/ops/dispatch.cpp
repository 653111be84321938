#include "attune/ops/dispatch.h"

namespace attune {

namespace {

std::int64_t row_stride(const Tensor& x) {
  if (x.rank() <= 1) return x.width();
  check(x.dim(-1) <= 1 || x.stride(-1) == 1, "a tensor {} whose last dimension is strided is not a matrix of rows",
        x.shape());
  for (int i = 0; i + 2 < x.rank(); ++i)
    check(x.dim(i) <= 1 || x.stride(i) == x.dim(i + 1) * x.stride(i + 1), "the rows of a view {} are not evenly spaced",
          x.shape());
  return x.stride(-2);
}

}  // namespace

template <class T>
kernels::Rows<const T> rows_of(const Tensor& x) {
  return {x.data<T>(), x.row_count(), x.width(), row_stride(x)};
}
template <class T>
kernels::Rows<T> mutable_rows_of(const Tensor& x) {
  return {x.mutable_data<T>(), x.row_count(), x.width(), row_stride(x)};
}
template kernels::Rows<const double> rows_of(const Tensor&);
template kernels::Rows<const float> rows_of(const Tensor&);
template kernels::Rows<double> mutable_rows_of(const Tensor&);
template kernels::Rows<float> mutable_rows_of(const Tensor&);

Tensor reusable_or_like(const Tensor& x) { return x.sole_owner() && x.is_contiguous() ? x : Tensor::like(x); }

void check_same(std::string_view operation, const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape() && a.dtype() == b.dtype(), "{}: {} {} and {} {} do not fit", operation,
        name_of(a.dtype()), a.shape(), name_of(b.dtype()), b.shape());
}

}  // namespace attune
