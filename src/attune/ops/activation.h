#pragma once

#include <string_view>
#include <vector>

#include "attune/kernels/activation.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// The activation of a config's name: relu, gelu (x Phi(x), with erf), gelu_new, gelu_pytorch_tanh and gelu_fast (the
/// tanh formula), silu or swish (x sigmoid(x)), tanh, sigmoid; and of gates and feature maps log_sigmoid and
/// elu_plus_one. Any other name is an Error that lists these.
Activation parse_activation(std::string_view name);
std::string_view name_of(Activation kind);  // the first of its names above; parse_activation gives `kind` back

/// y = f(x), value by value. x: any shape, f32 or f64, rows evenly spaced; y is contiguous.
/// relu: max(x, 0). gelu: x Phi(x) (Hendrycks & Gimpel 2016, eq. 1). gelu_tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715
/// x^3))) (their eq. 2). silu: x / (1 + exp(-x)). sigmoid: 1 / (1 + exp(-x)). log_sigmoid: its logarithm. elu_plus_one:
/// x + 1 above 0, exp(x) below (Katharopoulos et al. 2020, equation 7).
Tensor activation(const Tensor& x, Activation kind);

/// y = f(gate) * up, value by value: the gated feed-forward's middle (Shazeer 2020, eq. 6; SwiGLU with silu). Equal
/// shapes. gate and up may be column slices of one tensor.
Tensor gated(const Tensor& gate, const Tensor& up, Activation kind);

}  // namespace attune
