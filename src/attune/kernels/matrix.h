#pragma once

#include <cstdint>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// A matrix of any strides, read only: element (i, j) is data[i * row_stride + j * column_stride].
template <class T>
struct Matrix {
  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  Matrix() = default;
  Matrix(const T* data, std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride)
      : data(data), rows(rows), columns(columns), row_stride(row_stride), column_stride(column_stride) {}
  Matrix(const Rows<const T>& r) : Matrix(r.data, r.count, r.width, r.stride, 1) {}  // NOLINT: a matrix of rows is one
  Matrix(const Rows<T>& r) : Matrix(r.data, r.count, r.width, r.stride, 1) {}        // NOLINT

  const T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * column_stride]; }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  Matrix rows_from(std::int64_t begin, std::int64_t end) const {
    return {data + begin * row_stride, end - begin, columns, row_stride, column_stride};
  }
};

/// What each sum of a matmul begins with: zero, a bias for each column, or what C holds.
template <class T>
struct MatmulStart {
  const T* bias = nullptr;  // [columns]
  bool accumulate = false;
};

}  // namespace attune::kernels
