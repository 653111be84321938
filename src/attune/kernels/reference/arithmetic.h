#pragma once

#include <span>

#include "attune/kernels/rows.h"

namespace attune::kernels {

/// into += from.
void add_into(std::span<const double> from, std::span<double> into);
/// y = a + b, y = a * b, y = factor * x; equal sizes; y may be one of the inputs.
void add(Rows<const double> a, Rows<const double> b, Rows<double> y);
void multiply(Rows<const double> a, Rows<const double> b, Rows<double> y);
void scale(Rows<const double> x, double factor, Rows<double> y);
/// y = x, or the nearer of -most and most where it lies beyond; its gradient passes where |x| <= most.
void clamp(Rows<const double> x, double most, Rows<double> y);
void clamp_backward(Rows<const double> x, Rows<const double> dy, double most, Rows<double> dx);
/// y[t, :] = x[t, :] + row.
void add_row(Rows<const double> x, std::span<const double> row, Rows<double> y);
/// into[c] += sum over t of x[t, c].
void add_column_sums(Rows<const double> x, std::span<double> into);
/// The sum of all values.
double sum(Rows<const double> x);

}  // namespace attune::kernels
