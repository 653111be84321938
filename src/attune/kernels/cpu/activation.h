#pragma once

#include "attune/kernels/activation.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// y = f(x); formulas in ops/activation.h. y may be x.
void activation(Rows<const float> x, Activation kind, Rows<float> y);
/// dx = dy * f'(x); dx may be x or dy.
void activation_backward(Rows<const float> x, Rows<const float> dy, Activation kind, Rows<float> dx);

/// y = f(gate) * up.
void gated(Rows<const float> gate, Rows<const float> up, Activation kind, Rows<float> y);
/// d.gate = dy * up * f'(gate), d.up = dy * f(gate); they may lie where gate and up do.
void gated_backward(Rows<const float> gate, Rows<const float> up, Rows<const float> dy, Activation kind,
                    GatedGradient<float> d);

}  // namespace attune::kernels
