#pragma once

#include <string_view>
#include <utility>

#include "attune/base/error.h"
#include "attune/kernels/rows.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Calls work.operator()<T>() with T = double for F64 (the reference kernels) or float for F32 (the CPU's): the
/// overload of the kernel that T's spans select is the dispatch. Any other type is an Error that names the operation.
template <class Work>
auto dispatch(std::string_view operation, DType type, Work&& work) {
  switch (type) {
    case DType::F64:
      return work.template operator()<double>();
    case DType::F32:
      return work.template operator()<float>();
    default:
      fail("{}: computes in f32 or f64, not in {}: convert with Tensor::to", operation, name_of(type));
  }
}

/// A tensor as the matrix of its last dimension. The last stride must be 1 and the rows evenly spaced, else Error.
template <class T>
kernels::Rows<const T> rows_of(const Tensor& x);
template <class T>
kernels::Rows<T> mutable_rows_of(const Tensor& x);

/// For backward functions: x itself where the caller is the last that holds it, so that a gradient of its size can be
/// written over it; otherwise a new tensor like it.
Tensor reusable_or_like(const Tensor& x);

/// Throws Error unless both have the same shape and type.
void check_same(std::string_view operation, const Tensor& a, const Tensor& b);

}  // namespace attune
