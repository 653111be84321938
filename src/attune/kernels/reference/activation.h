#pragma once

#include "attune/kernels/activation.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = f(x); formulas in ops/activation.h. y may be x.
void activation(Rows<const double> x, Activation kind, Rows<double> y);
/// dx = dy * f'(x); dx may be x or dy.
void activation_backward(Rows<const double> x, Rows<const double> dy, Activation kind, Rows<double> dx);

/// y = f(gate) * up.
void gated(Rows<const double> gate, Rows<const double> up, Activation kind, Rows<double> y);
/// d.gate = dy * up * f'(gate), d.up = dy * f(gate); they may lie where gate and up do.
void gated_backward(Rows<const double> gate, Rows<const double> up, Rows<const double> dy, Activation kind,
                    GatedGradient<double> d);

}  // namespace attune::kernels
