#pragma once

#include "attune/kernels/combine_rows.h"

namespace attune::kernels {

/// Terms are added in the order of j. Indices lie within x.
void combine_rows(Rows<const float> x, const RowCombination<float>& by, Rows<float> y);
/// x's gradient gets its terms in the order of (t, j).
void combine_rows_backward(Rows<const float> x, const RowCombination<float>& by, Rows<const float> dy,
                           RowCombinationGradient<float> d);

}  // namespace attune::kernels
