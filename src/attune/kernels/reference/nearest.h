#pragma once

#include <span>

#include "attune/kernels/matrix.h"

namespace attune::kernels {

/// The `count` keys of largest inner product with each query, among its first visible[i] keys: best first, of equal
/// ones the earlier first. best: [queries, count] row numbers of `keys`; -1 where a query has fewer. A product that is
/// no number is worse than any.
void nearest(const Matrix<double>& queries, const Matrix<double>& keys, std::span<const std::int64_t> visible,
             std::int64_t count, std::int64_t* best);

}  // namespace attune::kernels
