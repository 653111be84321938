#pragma once

#include <span>

#include "attune/kernels/matrix.h"

namespace attune::kernels {

/// The same as kernels/reference/nearest.h; in parallel over queries.
void nearest(const Matrix<float>& queries, const Matrix<float>& keys, std::span<const std::int64_t> visible,
             std::int64_t count, std::int64_t* best);

/// a . b of n values, for searches that meet one key at a time.
float inner_product(const float* a, const float* b, std::int64_t n);

}  // namespace attune::kernels
