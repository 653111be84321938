#pragma once

#include <cstddef>
#include <cstdint>

#include "attune/tensor/quantised.h"

namespace attune::kernels {

/// A matrix of `count` rows of `width` values in a block-quantised format, a row beginning every `stride` bytes: what
/// kernels see of a QuantisedTensor. It needs no alignment.
struct QuantisedRows {
  QuantisedFormat format = QuantisedFormat::Q8_0;
  const std::byte* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::int64_t stride = 0;
  const RowOrder* order = nullptr;  // of the rows in memory; null: as they are numbered

  QuantisedRows() = default;
  /// The matrix of the last dimension.
  QuantisedRows(const QuantisedTensor& t)  // NOLINT: such a tensor is one
      : format(t.format()),
        data(t.data()),
        count(t.row_count()),
        width(t.width()),
        stride(t.row_bytes()),
        order(t.row_order()) {}
  const std::byte* operator[](std::int64_t i) const {
    return stored(order ? order->stored[static_cast<std::size_t>(i)] : i);
  }
  const std::byte* stored(std::int64_t i) const { return data + i * stride; }  // in the order of the memory
};

}  // namespace attune::kernels
