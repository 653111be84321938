#pragma once

#include "attune/kernels/rotary.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// The angles of a batch's tokens; nn/position/rotary.h makes them, once for all layers.
struct RotaryTable {
  Tensor cos, sin;  // [tokens, half]
  RotaryPairing pairing = RotaryPairing::half_split;
};

/// Turns the pairs of every head by its token's angles: (a, b) -> (a cos - b sin, b cos + a sin) (Su et al. 2021,
/// "RoFormer", equation 34). x: [tokens, heads, head_dim] with any strides between tokens and heads; the first 2 half
/// values of a head turn, the others stay (partial rotation). Returns x's shape. The gradient turns back. Throws Error
/// where the table does not fit x.
Tensor rotary(const Tensor& x, const RotaryTable& table);

}  // namespace attune
