#pragma once

#include <cstdint>
#include <vector>

#include "attune/tensor/tensor.h"

namespace attune {

// Views share x's storage and copy nothing; their gradients are written into their part of x's.

/// The same values in another shape; Error where a strided x would have to be copied.
Tensor reshape(const Tensor& x, const Shape& shape);
/// x[..., begin:end], a strided view.
Tensor columns(const Tensor& x, std::int64_t begin, std::int64_t end);
/// x[begin:end] of dimension 0.
Tensor row_range(const Tensor& x, std::int64_t begin, std::int64_t end);

/// x with dimensions a and b exchanged, a strided view.
Tensor transposed(const Tensor& x, int a, int b);

/// x itself where its values lie in order, else a copy in which they do: what reshape() can read.
Tensor contiguous(const Tensor& x);

/// y[i] = x[indices[i]] of dimension 0, a copy. indices: [n], i64 or i32; one may occur several times, the gradient
/// adds up in the order of i. Throws Error with the index, its place and x's rows where one is out of range.
Tensor select_rows(const Tensor& x, const Tensor& indices);
/// Parts [rows_i, ...] of equal width, one below the other: [sum of rows_i, ...]. At least one part.
Tensor concatenate_rows(const std::vector<Tensor>& parts);

}  // namespace attune
