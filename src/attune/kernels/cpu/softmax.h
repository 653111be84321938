#pragma once

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = exp(x - max) / sum, by rows; a row of -infinity gives zeros. y may be x.
void softmax(Rows<const float> x, Rows<float> y);
/// dx = y (dy - sum of dy y).
void softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx);

/// y = x - log sum exp(x), by rows.
void log_softmax(Rows<const float> x, Rows<float> y);
/// dx = dy - exp(y) sum of dy.
void log_softmax_backward(Rows<const float> y, Rows<const float> dy, Rows<float> dx);

}  // namespace attune::kernels
