#pragma once

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = exp(x - max) / sum, by rows; a row of -infinity gives zeros. y may be x.
void softmax(Rows<const double> x, Rows<double> y);
/// dx = y (dy - sum of dy y).
void softmax_backward(Rows<const double> y, Rows<const double> dy, Rows<double> dx);

/// y = x - log sum exp(x), by rows.
void log_softmax(Rows<const double> x, Rows<double> y);
/// dx = dy - exp(y) sum of dy.
void log_softmax_backward(Rows<const double> y, Rows<const double> dy, Rows<double> dx);

}  // namespace attune::kernels
