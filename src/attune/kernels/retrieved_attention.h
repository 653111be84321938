#pragma once

#include <cstdint>

#include "attune/kernels/attention.h"

namespace attune::kernels {

/// Attention of each query head to keys of its own choice, wherever they lie: row (token, head) sees keys[i], values[i]
/// for the `count` numbers i from (token * heads + head) * count on; a null key is none.
template <class T>
struct RetrievedProblem {
  HeadRows<const T> q;
  std::int64_t tokens = 0, count = 0, value_width = 0;
  const T* const* keys = nullptr;    // [tokens, heads, count], each of q.width values
  const T* const* values = nullptr;  // [tokens, heads, count], each of value_width values
  double scale = 1;
};

}  // namespace attune::kernels
