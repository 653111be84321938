#pragma once

#include "attune/ops/attention.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Standard normal values; the same for the same seed and name.
Tensor demo_values(const Shape& shape, std::uint64_t seed, std::string_view name);
/// Self-attention over one sequence. x: [tokens, heads, head_dim] is queries, keys and values at once.
Tensor demo_self_attention(const Tensor& x, const AttentionMask& mask);
/// Largest |a - b|.
double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace attune
