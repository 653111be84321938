#pragma once

#include <string_view>

#include "attune/kernels/rows.h"
#include "attune/ops/dispatch.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// `indices` ([n], i64 or i32) as contiguous i64. Throws Error that names the operation, the index, its place and the
/// number of rows unless each is one of `rows`, or a row of `x`.
Tensor checked_indices(std::string_view operation, const Tensor& indices, std::int64_t rows);
Tensor checked_indices(std::string_view operation, const Tensor& indices, const Tensor& x);

/// A tensor as the matrix of dimension 0: rows that hold all the rest. Contiguous, or of rank 2 or less.
template <class T>
kernels::Rows<const T> outer_rows_of(const Tensor& x) {
  return rows_of<T>(x.rank() == 2 ? x : x.as_shape({x.dim(0), x.dim(0) == 0 ? 0 : x.numel() / x.dim(0)}));
}
template <class T>
kernels::Rows<T> mutable_outer_rows_of(const Tensor& x) {
  return mutable_rows_of<T>(x.rank() == 2 ? x : x.as_shape({x.dim(0), x.dim(0) == 0 ? 0 : x.numel() / x.dim(0)}));
}

}  // namespace attune
