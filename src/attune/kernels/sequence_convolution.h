#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace attune::kernels {

/// y[t, h, :] = sum over j of filters[h, j] x[t + j - width / 2, h, :] within each sequence. Tensors are contiguous,
/// [tokens, heads, head_dim].
template <class T>
struct SequenceConvolution {
  const T* filters = nullptr;  // [heads, width]
  std::int64_t heads = 0, head_dim = 0, width = 0;
  std::span<const std::int64_t> starts;  // [sequences + 1]

  std::int64_t sequences() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t begin(std::int64_t s) const { return starts[static_cast<std::size_t>(s)]; }
  std::int64_t end(std::int64_t s) const { return starts[static_cast<std::size_t>(s) + 1]; }
  /// Filter places [first, last) of token t of sequence s that lie within the sequence.
  std::int64_t first(std::int64_t s, std::int64_t t) const {
    return std::max<std::int64_t>(0, begin(s) - t + width / 2);
  }
  std::int64_t last(std::int64_t s, std::int64_t t) const { return std::min(width, end(s) - t + width / 2); }
  /// Where head h of token t begins.
  std::int64_t row(std::int64_t t, std::int64_t h) const { return (t * heads + h) * head_dim; }
};

}  // namespace attune::kernels
