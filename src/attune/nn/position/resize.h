#pragma once

#include <cstdint>

#include "attune/tensor/tensor.h"

namespace attune {

/// How values on a line are read at other places: between the two nearest, or by the cubic kernel of Keys 1981 over
/// four (PyTorch's "linear" or "bilinear", and "bicubic"), beyond the ends the last value.
struct Resizing {
  enum class Filter { linear, cubic } filter = Filter::cubic;
  /// Going to fewer places each takes the mean of a wider stretch (PyTorch's antialias=True, which timm uses); the
  /// cubic kernel is then that with a = -0.5 instead of -0.75, as there.
  bool antialias = false;
};

struct GridSize {
  std::int64_t height = 0, width = 0;

  std::int64_t places() const { return height * width; }
  bool operator==(const GridSize&) const = default;
};

/// How much of each of `from` values is in each of `to` (align_corners=False): [to, from]; rows sum to 1. Throws Error
/// unless both are above 0.
Tensor resizing_matrix(std::int64_t from, std::int64_t to, const Resizing& how, DType type);

/// A table of positions at another length, between its rows: [rows, width] to [length, width], with gradient.
Tensor resize_rows(const Tensor& table, std::int64_t length, const Resizing& how = {Resizing::Filter::linear});

/// A table whose rows stand row by row on a grid, at another size: [from.places(), width] to [to.places(), width], with
/// gradient; the table itself where the size is the same. Throws Error where the table does not have `from`'s rows.
Tensor resize_grid(const Tensor& table, const GridSize& from, const GridSize& to, const Resizing& how = {});

}  // namespace attune
