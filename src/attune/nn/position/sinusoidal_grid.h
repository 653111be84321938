#pragma once

#include "attune/nn/position/resize.h"

namespace attune {

/// Which axis the first half of a vector is for. `rows_first` is what the authors of MAE meant and say; their code
/// swaps the two, and so do all models trained with it: `columns_first`.
enum class GridOrder { rows_first, columns_first };

/// Sinusoidal positions of patches on a grid, which stand row by row (He et al. 2022, "MAE", appendix A.1; Chen et al.
/// 2021, "MoCo v3", section 5): all sines and then all cosines of one coordinate, then those of the other, each with
/// width / 4 frequencies 10000^(-4i / width). [size.places(), width], f32, computed in f64. Throws Error unless width
/// is a multiple of 4.
Tensor sinusoidal_grid(const GridSize& size, std::int64_t width, GridOrder order = GridOrder::rows_first);

}  // namespace attune
