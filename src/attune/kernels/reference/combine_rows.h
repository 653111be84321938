#pragma once

#include "attune/kernels/combine_rows.h"

namespace attune::kernels {

/// Terms are added in the order of j. Indices lie within x.
void combine_rows(Rows<const double> x, const RowCombination<double>& by, Rows<double> y);
/// x's gradient gets its terms in the order of (t, j).
void combine_rows_backward(Rows<const double> x, const RowCombination<double>& by, Rows<const double> dy,
                           RowCombinationGradient<double> d);

}  // namespace attune::kernels
