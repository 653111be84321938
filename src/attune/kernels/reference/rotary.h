#pragma once

#include "attune/kernels/rotary.h"

namespace attune::kernels {

/// (a, b) -> (a cos - b sin, b cos + a sin) for every pair of every head (Su et al. 2021, "RoFormer", equation 34).
/// y: [tokens, heads, width], x's shape.
void rotary(const HeadRows<const double>& x, const Rotation<double>& rotation, const HeadRows<double>& y);

}  // namespace attune::kernels
