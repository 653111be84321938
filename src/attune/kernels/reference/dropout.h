#pragma once

#include "attune/kernels/dropout.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = keep x / (1 - rate); y may be x.
void dropout(Rows<const double> x, const DropoutRule& rule, Rows<double> y);
/// y = residual + keep x / (1 - rate).
void dropout_add(Rows<const double> x, Rows<const double> residual, const DropoutRule& rule, Rows<double> y);

}  // namespace attune::kernels
