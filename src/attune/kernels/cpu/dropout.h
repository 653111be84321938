#pragma once

#include "attune/kernels/dropout.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = keep x / (1 - rate); y may be x.
void dropout(Rows<const float> x, const DropoutRule& rule, Rows<float> y);
/// y = residual + keep x / (1 - rate).
void dropout_add(Rows<const float> x, Rows<const float> residual, const DropoutRule& rule, Rows<float> y);

}  // namespace attune::kernels
