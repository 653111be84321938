#pragma once

#include <cstdint>

#include "attune/kernels/rows.h"

namespace attune {

/// Functions of one value (ops/activation.h has their formulas and names).
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu, tanh, sigmoid, log_sigmoid, elu_plus_one };

namespace kernels {

/// Where gated_backward() writes dL/dgate and dL/dup.
template <class T>
struct GatedGradient {
  Rows<T> gate, up;
};

}  // namespace kernels

}  // namespace attune
