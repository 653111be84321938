#pragma once

#include "attune/kernels/quantised_rows.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y[i, j] = bias[j] + sum over k of x[i, k] * w[j, k]. x: [m, inputs], w: [outputs, inputs] in blocks, y: [m,
/// outputs], which must not overlap x; bias: [outputs] or null. Throws Error where sizes do not fit.
///
/// Each 32 values of a row of x are rounded to whole numbers of -16256 to 16256 times their largest magnitude / 16256.
/// The products are then sums of whole numbers, exact, and only they are scaled and added in f32, in the order of k: a
/// row alone has the bits that it has in a batch, with any number of threads. Against the products of the unrounded x
/// the difference is at most sum over k of |w[j, k]| * (largest magnitude of k's block of x) / 32512, besides f32
/// rounding. 8 bits of x, half the work, would be a hundred times as far off, which
/// turns words of small models into others.
///
/// Blocks are unpacked for 32 outputs at a time, once for each 256 rows of x, and never kept: the weights are read
/// where they lie, a mapped file's, once.
void matmul(const Rows<const float>& x, const QuantisedRows& w, const Rows<float>& y, const float* bias = nullptr);

}  // namespace attune::kernels
