#pragma once

#include <cstdint>
#include <span>

#include "attune/tensor/tensor.h"

namespace attune {

/// Where sines and cosines stand in a row: sine and cosine of each frequency side by side (Vaswani et al. 2017,
/// section 3.5), or all sines and then all cosines (Marian, and its models on Hugging Face).
enum class SinusoidalLayout { interleaved, halves };

/// The rows of tokens at the given positions: row p of the table below. [positions.size(), width].
Tensor sinusoidal_rows(std::span<const std::int64_t> positions, std::int64_t width, SinusoidalLayout layout);

/// Row p holds sin(p / 10000^(2i / width)) and cos(p / 10000^(2i / width)). [positions, width], f32, computed in f64.
/// An odd width has one sine more than cosines. Throws Error unless positions >= 0 and width >= 1.
Tensor sinusoidal_table(std::int64_t positions, std::int64_t width, SinusoidalLayout layout);

}  // namespace attune
