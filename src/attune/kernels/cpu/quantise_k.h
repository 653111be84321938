#pragma once

#include <span>

#include "attune/kernels/quantised_blocks.h"

/// Blocks of 256 values; see quantise.h, whose source alone includes this.
namespace attune::kernels {

void compress(std::span<const float> x, blocks::Q4_K& b);
void compress(std::span<const float> x, blocks::Q5_K& b);
void compress(std::span<const float> x, blocks::Q6_K& b);

}  // namespace attune::kernels
