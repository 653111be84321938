#pragma once

#include <cstdint>

namespace attune {

/// Functions of one value between two linear layers (ops/activation.h has their formulas and names).
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu, tanh, sigmoid };

}  // namespace attune
