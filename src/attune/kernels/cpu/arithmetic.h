#pragma once

#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// into += from.
void add_into(std::span<const float> from, std::span<float> into);
/// y = a + b, y = a * b, y = factor * x; equal sizes; y may be one of the inputs.
void add(Rows<const float> a, Rows<const float> b, Rows<float> y);
void multiply(Rows<const float> a, Rows<const float> b, Rows<float> y);
void scale(Rows<const float> x, float factor, Rows<float> y);
/// y = x, or the nearer of -most and most where it lies beyond; its gradient passes where |x| <= most.
void clamp(Rows<const float> x, float most, Rows<float> y);
void clamp_backward(Rows<const float> x, Rows<const float> dy, float most, Rows<float> dx);
/// y[t, :] = x[t, :] + row.
void add_row(Rows<const float> x, std::span<const float> row, Rows<float> y);
/// into[c] += sum over t of x[t, c]: partial sums of fixed blocks of rows, then of the blocks in order.
void add_column_sums(Rows<const float> x, std::span<float> into);
/// The sum of all values, in f64.
double sum(Rows<const float> x);

}  // namespace attune::kernels
