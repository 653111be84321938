#pragma once

#include <cstdint>
#include <vector>

#include "attune/tensor/tensor.h"

namespace attune {

/// Keys and values that queries may be sent to: k [rows, kv_heads, head_dim], v [rows, kv_heads, value_dim].
struct RetrievedSource {
  Tensor k, v;
};

/// One key that was found: a row of a source, or none.
struct Neighbour {
  std::int32_t source = -1;  // below 0: none
  std::int64_t row = 0;
};

/// softmax(scale q k^T) v where each query head sees keys of its own choice alone (Wu et al. 2022, "Memorizing
/// transformers", section 3.2). q: [tokens, heads, head_dim]; neighbours: [tokens, heads, count]; query head h looks at
/// key head h / (heads / kv_heads). Returns [tokens, heads, value_dim]; zeros where a query has no neighbour. Gives a
/// gradient to q alone: the sources are constants, and one that needs a gradient is an Error, as is a row that a source
/// does not have.
Tensor retrieved_attention(const Tensor& q, const std::vector<RetrievedSource>& sources,
                           const std::vector<Neighbour>& neighbours, double scale);

}  // namespace attune
