#pragma once

#include "attune/kernels/rotary.h"

namespace attune::kernels {

/// As the reference (reference/rotary.h), in f32.
void rotary(const HeadRows<const float>& x, const Rotation<float>& rotation, const HeadRows<float>& y);

}  // namespace attune::kernels
