#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// How head_products() lays out what it returns: [tokens, heads, entries], or [heads, entries, tokens].
enum class ProductLayout { tokens_first, heads_first };

/// x[t, h] . table[n, h]: each row's products with a table of vectors, head by head. x: [tokens, heads, width]
/// with any strides between tokens and heads; table: [entries, heads, width], or [entries, 1, width] for all heads.
/// Throws Error where shapes or types do not fit.
Tensor head_products(const Tensor& x, const Tensor& table, ProductLayout layout);

}  // namespace attune
