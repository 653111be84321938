#pragma once

#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y[i, :] = x[indices[i], :]; indices lie within x.
void gather_rows(Rows<const float> x, std::span<const std::int64_t> indices, Rows<float> y);
/// into[indices[i], :] += x[i, :] in the order of i; a negative index is left out.
void scatter_add_rows(Rows<const float> x, std::span<const std::int64_t> indices, Rows<float> into);

}  // namespace attune::kernels
