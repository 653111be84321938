#pragma once

#include <cstdint>
#include <optional>

#include "attune/tensor/tensor.h"

namespace attune {

/// y[t, :] = table[ids[t], :]. table: [entries, width], f32 or f64; ids: [tokens], i64 or i32; y: [tokens, width].
/// The gradient adds up in the order of tokens; row `padding`, if given, gets none (as PyTorch's padding_idx).
/// Throws Error with the id, its place and the table's size where an id is outside of the table.
Tensor embedding(const Tensor& table, const Tensor& ids, std::optional<std::int64_t> padding = std::nullopt);

}  // namespace attune
