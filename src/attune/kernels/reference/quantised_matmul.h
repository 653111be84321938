#pragma once

#include "attune/kernels/quantised_rows.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y[i, j] = bias[j] + sum over k of x[i, k] * w[j, k], with the numbers that w's blocks stand for. bias: [outputs] or
/// null. The definition that the integer kernels come close to.
void matmul(const Rows<const double>& x, const QuantisedRows& w, const Rows<double>& y, const double* bias = nullptr);

}  // namespace attune::kernels
