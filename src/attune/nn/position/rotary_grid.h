#pragma once

#include <span>
#include <vector>

#include "attune/nn/position/resize.h"
#include "attune/ops/rotary.h"

namespace attune {

/// Row and column of each patch of an image or video.
struct GridPlaces {
  std::vector<std::int64_t> rows, columns;
};

/// Of `frames` pictures one behind the other, each row by row; with `merge` above 1 in blocks of merge x merge patches,
/// which stand row by row and become one token later (Qwen2-VL). Throws Error where the blocks do not fill the grid.
GridPlaces grid_places(const GridSize& size, std::int64_t merge = 1, std::int64_t frames = 1);

/// Two-dimensional rotary positions (Wang et al. 2024, "Qwen2-VL", section 2.1; Heo et al. 2024, "Rotary position
/// embedding for vision transformer", section 3.2, "axial"): half of the pairs of a head turn by the row, half by the
/// column, both with the frequencies theta^(-4i / head_dim). A score then depends on the two differences alone. Halves
/// of a head are paired, f32. Throws Error unless head_dim is a multiple of 4 and each patch has a row and a column.
RotaryTable rotary_table(const GridPlaces& places, std::int64_t head_dim, double theta = 10000);

}  // namespace attune
