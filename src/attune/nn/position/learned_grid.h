#pragma once

#include <string_view>

#include "attune/nn/parameters.h"
#include "attune/nn/position/resize.h"

namespace attune {

/// A vector learned for each place of a grid of patches, which stand row by row, and for `prefix` tokens in front of
/// them (a class token; Dosovitskiy et al. 2021, "ViT"). Other sizes are read between the places: bicubic in
/// transformers (`interpolate_pos_encoding`), bicubic with antialias in timm (`resample_abs_pos_embed`).
class LearnedGrid {
 public:
  /// The parameter `name` of w, [1, prefix + grid.places(), width], as published.
  LearnedGrid(const Weights& w, std::string_view name, const GridSize& grid, std::int64_t prefix, std::int64_t width,
              double deviation = 0.02);

  /// For an image of `size` patches: [prefix + size.places(), width], with gradient.
  Tensor operator()(const GridSize& size, const Resizing& how = {}) const;
  const GridSize& grid() const { return grid_; }

 private:
  Tensor table_;
  GridSize grid_;
  std::int64_t prefix_;
};

}  // namespace attune
