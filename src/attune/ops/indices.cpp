#include "attune/ops/indices.h"

namespace attune {

Tensor checked_indices(std::string_view operation, const Tensor& indices, std::int64_t rows) {
  check(indices.rank() == 1 && (indices.dtype() == DType::I64 || indices.dtype() == DType::I32),
        "{}: indices are a list of i64 or i32, not {} {}", operation, name_of(indices.dtype()), indices.shape());
  Tensor all = indices.to(DType::I64).contiguous();
  std::span<const std::int64_t> values = all.values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i)
    check(values[i] >= 0 && values[i] < rows, "{}: index {} at place {} is not one of the {} rows", operation,
          values[i], i, rows);
  return all;
}

Tensor checked_indices(std::string_view operation, const Tensor& indices, const Tensor& x) {
  return checked_indices(operation, indices, x.dim(0));
}

}  // namespace attune
