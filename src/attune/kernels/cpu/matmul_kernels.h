#pragma once

#include <cstdint>

/// Between matmul.cpp, which cuts the work, and matmul_kernels.cpp, which holds the vector code. Nobody else includes
/// this.
namespace attune::kernels {

inline constexpr std::int64_t panel_width = 32;   // columns of a panel of B: two vectors of AVX-512, four of AVX2
inline constexpr std::int64_t block_depth = 768;  // most k of one pass over a block of A
inline constexpr std::int64_t most_rows = 12;     // of one tile; a target with 16 registers takes 6
inline constexpr std::int64_t most_thin_rows = 4;
/// Row stride of a block of A. Not a power of two, so that the rows of a tile do not fall into the same cache sets.
inline constexpr std::int64_t block_row_stride = block_depth + 16;

/// One step of the work: a few rows times part of a panel, C[i, j] = start[i, j] + sum over k of A[i, k] * B[k, j],
/// each sum in the order of k with one fused multiply-add a step, so that no way of cutting the work shows in a bit.
struct Tile {
  const float* a;               // how it is laid out is the kernel's
  std::int64_t a_row_stride;    // thin kernels only
  const float* b;               // [depth, panel_width]
  std::int64_t b_panel_stride;  // from one panel to the next: thin kernels only
  std::int64_t depth;
  const float* start;         // [rows or 1, columns]
  std::int64_t start_stride;  // 0: one row for all
  const float* ahead;         // block kernels only: what a later tile reads, asked for on the way,
  std::int64_t ahead_step;    // this much for each k, into the second cache
  float* c;                   // [rows, columns]
  std::int64_t c_stride;
};

struct MatmulKernels {
  using Kernel = void (*)(const Tile& tile);
  std::int64_t rows;               // most rows of a tile
  std::int64_t columns;            // of a tile: a part of a panel
  std::int64_t depth;              // most k of one pass: a tile's part of B stays in the first cache or close
  Kernel row_tiles[most_rows];     // by rows - 1: A as [rows, block_row_stride]
  Kernel column_tiles[most_rows];  // the same for A as [depth, rows]: an operand that was transposed
  /// By rows - 1: `thin_panels` panels (the last may be alone: single_thin) times A as it lies in memory.
  std::int64_t thin_panels[most_thin_rows];
  Kernel thin[most_thin_rows];
  Kernel single_thin[most_thin_rows];
  /// to[i, j] = from[j, i] for 32 columns: [depth, panel_width] from 32 rows of `depth` values that begin `from_stride`
  /// apart.
  void (*transpose_panel)(const float* from, std::int64_t from_stride, std::int64_t depth, float* to);
};

/// For the best target that this CPU has.
const MatmulKernels& matmul_kernels();

}  // namespace attune::kernels
