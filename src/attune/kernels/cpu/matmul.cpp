#include "attune/kernels/cpu/matmul.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/kernels/cpu/matmul_kernels.h"
#include "attune/tensor/storage.h"

namespace attune::kernels {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::size_t bytes(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

// Values of A at once: 288 KiB, a part of the second cache; and rows.
constexpr std::int64_t block_values = 96 * 768, most_block_rows = 384;
// Panels of C at once: with as many rows they stay in the cache between the passes over k.
constexpr std::int64_t block_panels = 32;
// The same where B is packed on the way, a few panels at a time (so that more of each row is read at once): once for
// all rows.
constexpr std::int64_t panels_once = 4;
constexpr std::int64_t line = 16;  // floats of a cache line
// How far ahead to ask for rows that lie apart in memory, which the processor does not foresee.
constexpr std::int64_t prefetch_rows = 8;
alignas(64) constexpr float zeros[2 * panel_width] = {};  // as wide as the widest tile

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

void pack_strided(const Matrix<float>& b, std::int64_t panel, Range rows, float* to) {
  std::int64_t first = panel * panel_width, width = std::min(panel_width, b.columns - first);
  const float* from = b.data + rows.begin * b.row_stride + first * b.column_stride;
  for (std::int64_t k = 0; k < rows.size(); ++k, from += b.row_stride, to += panel_width) {
    for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * b.column_stride];
    std::fill(to + width, to + panel_width, 0.0f);
  }
}

/// Rows of panels, `to_stride` from one panel to the next.
void pack_panels(const Matrix<float>& b, Range panels, Range rows, float* to, std::int64_t to_stride) {
  Range whole{panels.begin, std::min(panels.end, b.columns / panel_width)};
  const float* from = b.data + rows.begin * b.row_stride + panels.begin * panel_width * b.column_stride;
  if (b.column_stride == 1) {  // row by row, as they lie in memory
    for (std::int64_t k = 0; k < rows.size(); ++k) {
      for (std::int64_t j = 0; j < whole.size() * panel_width; j += line)
        __builtin_prefetch(from + (k + prefetch_rows) * b.row_stride + j);
      for (std::int64_t i = 0; i < whole.size(); ++i)
        std::memcpy(to + i * to_stride + k * panel_width, from + k * b.row_stride + i * panel_width,
                    bytes(panel_width));
    }
  } else {
    for (std::int64_t i = 0; i < whole.size(); ++i) {
      if (b.row_stride == 1)
        matmul_kernels().transpose_panel(from + i * panel_width * b.column_stride, b.column_stride, rows.size(),
                                         to + i * to_stride);
      else
        pack_strided(b, panels.begin + i, rows, to + i * to_stride);
    }
  }
  for (std::int64_t panel = std::max(whole.begin, whole.end); panel < panels.end; ++panel)
    pack_strided(b, panel, rows, to + (panel - panels.begin) * to_stride);
}

void pack(const Matrix<float>& b, float* to) {
  constexpr std::int64_t panels_of_piece = 8, rows_of_piece = 256;
  std::int64_t panels = divide_up(b.columns, panel_width), across = divide_up(panels, panels_of_piece);
  parallel(across * divide_up(b.rows, rows_of_piece), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      std::int64_t panel = piece % across * panels_of_piece, k = piece / across * rows_of_piece;
      pack_panels(b, {panel, std::min(panels, panel + panels_of_piece)}, {k, std::min(b.rows, k + rows_of_piece)},
                  to + (panel * b.rows + k) * panel_width, b.rows * panel_width);
    }
  });
}

/// The parts of A and B that a task works on, laid out as the tiles want them. One a thread, kept.
struct alignas(64) Blocks {
  float a[most_block_rows * block_row_stride];
  float b[panels_once * panel_width * block_depth];
};
Blocks& blocks_of_thread() {
  thread_local const std::unique_ptr<Blocks> blocks(new Blocks);
  return *blocks;
}

/// The right operand, packed already or not.
struct Right {
  const PackedMatrix* packed = nullptr;
  const Matrix<float>* matrix = nullptr;
};

/// [0, all) in the fewest parts of at most `most`, as even as can be, so that none is left with a row or two. At least
/// one part.
struct Cut {
  std::int64_t count, size_of_each, larger;  // the first `larger` have one more
  Cut(std::int64_t all, std::int64_t most)
      : count(std::max<std::int64_t>(1, divide_up(all, most))), size_of_each(all / count), larger(all % count) {}
  std::int64_t begin(std::int64_t i) const { return i * size_of_each + std::min(i, larger); }
  std::int64_t size(std::int64_t i) const { return size_of_each + (i < larger); }
  Range range(std::int64_t i) const { return {begin(i), begin(i) + size(i)}; }
};

struct Work {
  const Matrix<float>& a;
  Right b;
  const Rows<float>& c;
  const MatmulStart<float>& start;
  const MatmulKernels& kernels = matmul_kernels();
  Cut tiles{c.count, kernels.rows};  // of C's rows
};

/// Where a tile's values are, from `column` on, and what they start with.
void place(const Work& w, std::int64_t column, std::int64_t row, bool first_pass, Tile& tile) {
  tile.c = w.c[row] + column;
  tile.c_stride = w.c.stride;
  tile.start = tile.c;
  tile.start_stride = tile.c_stride;
  if (first_pass && !w.start.accumulate) {
    tile.start = w.start.bias ? w.start.bias + column : zeros;
    tile.start_stride = 0;
  }
}

/// A tile of which only `width` columns are inside C: on a copy, because a kernel reads and writes whole vectors.
void run_at_edge(MatmulKernels::Kernel kernel, Tile tile, std::int64_t rows, std::int64_t width) {
  alignas(64) float copy[most_rows][panel_width] = {};
  for (std::int64_t i = 0; i < rows; ++i) std::memcpy(copy[i], tile.start + i * tile.start_stride, bytes(width));
  float* c = tile.c;
  std::int64_t c_stride = tile.c_stride;
  tile.start = tile.c = copy[0];
  tile.start_stride = tile.c_stride = panel_width;
  kernel(tile);
  for (std::int64_t i = 0; i < rows; ++i) std::memcpy(c + i * c_stride, copy[i], bytes(width));
}

/// Part of the k of some panels.
struct Pass {
  Range panels;
  std::int64_t k, depth;
  bool first;
};

/// Copies a block of A, each tile as [depth, kRows]. Row by row of A's transpose, as they lie in memory. A tile with
/// fewer rows takes in the next ones where there are any: a copy of constant size is much faster.
template <std::int64_t kRows>
void copy_columns(const Work& w, Range tiles, const Pass& pass, float* to) {
  const Range rows{w.tiles.begin(tiles.begin), w.tiles.begin(tiles.end)};
  for (std::int64_t k = 0; k < pass.depth; ++k) {
    const float* from = w.a.data + (pass.k + k) * w.a.column_stride;
    for (std::int64_t j = rows.begin; j < rows.end; j += line)
      __builtin_prefetch(from + prefetch_rows * w.a.column_stride + j);
    for (std::int64_t i = tiles.begin; i < tiles.end; ++i) {
      float* tile = to + ((i - tiles.begin) * pass.depth + k) * kRows;
      const Range rows = w.tiles.range(i);
      if (rows.begin + kRows <= w.a.rows)
        std::memcpy(tile, from + rows.begin, bytes(kRows));
      else
        for (std::int64_t r = rows.begin; r < rows.end; ++r) tile[r - rows.begin] = from[r];
    }
  }
}

/// The same as rows `block_row_stride` apart.
void copy_rows(const Work& w, Range tiles, const Pass& pass, float* to) {
  const Range rows{w.tiles.begin(tiles.begin), w.tiles.begin(tiles.end)};
  for (std::int64_t i = rows.begin; i < rows.end; ++i, to += block_row_stride) {
    const float* from = w.a.data + i * w.a.row_stride + pass.k * w.a.column_stride;
    if (w.a.column_stride == 1)
      std::memcpy(to, from, bytes(pass.depth));
    else
      for (std::int64_t k = 0; k < pass.depth; ++k) to[k] = from[k * w.a.column_stride];
  }
}

/// Asks for C's part that the next tile begins from and writes.
void prefetch_tile(const Work& w, std::int64_t panel, Range rows) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t j = 0; j < panel_width; j += line) __builtin_prefetch(w.c[i] + panel * panel_width + j, 1);
}

/// Asks for a tile's share (the i-th of n) of what the panel after `panel` is read from, into the second cache; where
/// that is packed, lets the tile ask for it on its way, as many requests at once would hold up its own.
void prefetch_next_panel(const Work& w, const Pass& pass, std::int64_t panel, Range i_of_n, Tile& tile) {
  tile.ahead = tile.a, tile.ahead_step = 0;
  if (++panel >= pass.panels.end) return;
  const std::int64_t i = i_of_n.begin, n = i_of_n.end;
  if (w.b.packed) {
    tile.ahead_step = divide_up(panel_width, n);
    tile.ahead = w.b.packed->panel(panel) + pass.k * panel_width + i * pass.depth * tile.ahead_step;
  } else if (w.b.matrix->column_stride == 1 && (panel - pass.panels.begin) % panels_once == 0) {
    const std::int64_t stride = w.b.matrix->row_stride;
    const float* b = w.b.matrix->data + pass.k * stride + panel * panel_width;
    for (std::int64_t k = pass.depth * i / n; k < pass.depth * (i + 1) / n; ++k)
      for (std::int64_t j = 0; j < panels_once * panel_width; j += line) __builtin_prefetch(b + k * stride + j, 0, 2);
  }
}

/// Panel `panel`'s part for this pass, packed.
const float* panel_part(const Work& w, const Pass& pass, std::int64_t panel) {
  if (w.b.packed) return w.b.packed->panel(panel) + pass.k * panel_width;
  float* b = blocks_of_thread().b;
  const std::int64_t stride = panel_width * pass.depth, i = (panel - pass.panels.begin) % panels_once;
  if (i == 0)
    pack_panels(*w.b.matrix, {panel, std::min(panel + panels_once, pass.panels.end)}, {pass.k, pass.k + pass.depth}, b,
                stride);
  return b + i * stride;
}

/// One block of A times panels of B for one pass over k; a tile's columns by a tile's columns, so that they are read
/// from the first cache.
void multiply_block(const Work& w, Range tiles, const Pass& pass) {
  const bool columns = w.a.row_stride == 1 && w.a.column_stride != 1;
  const MatmulKernels::Kernel* kernels = columns ? w.kernels.column_tiles : w.kernels.row_tiles;
  float* a = blocks_of_thread().a;
  if (!columns)
    copy_rows(w, tiles, pass, a);
  else if (w.kernels.rows == most_rows)
    copy_columns<most_rows>(w, tiles, pass, a);
  else
    copy_columns<most_rows / 2>(w, tiles, pass, a);
  const std::int64_t first_row = w.tiles.begin(tiles.begin);
  for (std::int64_t panel = pass.panels.begin; panel < pass.panels.end; ++panel) {
    const float* b = panel_part(w, pass, panel);
    const std::int64_t end = std::min(w.c.width, (panel + 1) * panel_width);
    for (std::int64_t column = panel * panel_width; column < end; column += w.kernels.columns) {
      Tile tile{};
      tile.b = b + column % panel_width;
      tile.depth = pass.depth;
      for (std::int64_t i = tiles.begin; i < tiles.end; ++i) {
        const Range rows = w.tiles.range(i);
        tile.a = a + (columns ? (i - tiles.begin) * pass.depth * w.kernels.rows
                              : (rows.begin - first_row) * block_row_stride);
        place(w, column, rows.begin, pass.first, tile);
        if (column % panel_width == 0) {
          if (i + 1 < tiles.end) prefetch_tile(w, panel, w.tiles.range(i + 1));
          prefetch_next_panel(w, pass, panel, {i - tiles.begin, tiles.size()}, tile);
        }
        if (end - column >= w.kernels.columns)
          kernels[rows.size() - 1](tile);
        else
          run_at_edge(kernels[rows.size() - 1], tile, rows.size(), end - column);
      }
    }
  }
}

/// C's tiles x panels over all of k: no more rows than a block of A has.
void multiply(const Work& w, Range tiles, Range panels) {
  const Cut passes(w.a.columns, w.kernels.depth);
  for (std::int64_t i = 0; i < passes.count; ++i)
    multiply_block(w, tiles, {panels, passes.begin(i), passes.size(i), i == 0});
}

/// How C is cut into tasks does not show in its bits: only speed and balance count.
void multiply_blocks(const Work& w) {
  const std::int64_t threads = num_threads(), all_panels = divide_up(w.c.width, panel_width);
  const std::int64_t depth = std::clamp<std::int64_t>(w.a.columns, 1, w.kernels.depth);
  const std::int64_t rows = w.b.packed ? std::min(block_values / depth, most_block_rows) : most_block_rows;
  const std::int64_t most_tiles = rows / w.kernels.rows;
  std::int64_t row_parts = divide_up(w.tiles.count, most_tiles);
  std::int64_t panel_parts = divide_up(all_panels, w.b.packed ? block_panels : all_panels);
  if (threads > 1) {
    // Tasks that are worth the trip multiply 2^20 pairs or more. Four a thread balance well; but where B is packed on
    // the way, each copies A again.
    const std::int64_t worth = w.c.count * w.c.width * std::max<std::int64_t>(1, w.a.columns) >> 20;
    const std::int64_t wanted = std::min(worth, w.b.packed ? 4 * threads : threads);
    while (row_parts * panel_parts < wanted && panel_parts < divide_up(all_panels, 8)) ++panel_parts;
    while (row_parts * panel_parts < wanted && row_parts < divide_up(w.tiles.count, 2)) ++row_parts;
    while (row_parts * panel_parts < wanted && panel_parts < all_panels) ++panel_parts;
  }
  const Cut tiles(w.tiles.count, divide_up(w.tiles.count, row_parts)),
      panels(all_panels, divide_up(all_panels, panel_parts));
  // Rows change faster, so that the same part of B is used again while it is near.
  parallel(tiles.count * panels.count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task)
      multiply(w, tiles.range(task % tiles.count), panels.range(task / tiles.count));
  });
}

/// A few rows: B is read once, so its panels are streamed from end to end, and only columns are cut.
void multiply_thin(const Work& w) {
  std::vector<float> gathered;
  Tile of_a{};
  of_a.a = w.a.data;
  of_a.a_row_stride = w.a.row_stride;
  if (w.a.column_stride != 1) {
    gathered.resize(static_cast<std::size_t>(w.a.rows * w.a.columns));
    for (std::int64_t i = 0; i < w.a.rows; ++i)
      for (std::int64_t k = 0; k < w.a.columns; ++k)
        gathered[static_cast<std::size_t>(i * w.a.columns + k)] = w.a(i, k);
    of_a.a = gathered.data();
    of_a.a_row_stride = w.a.columns;
  }
  of_a.depth = w.a.columns;
  of_a.b_panel_stride = w.a.columns * panel_width;
  std::int64_t kind = w.c.count - 1, at_once = w.kernels.thin_panels[kind];
  std::int64_t panels = divide_up(w.c.width, panel_width), whole = w.c.width / panel_width;
  std::int64_t grain = std::clamp<std::int64_t>((1 << 15) / std::max<std::int64_t>(1, of_a.b_panel_stride), 1, panels);
  parallel(panels, divide_up(grain, at_once) * at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end;) {
      Tile tile = of_a;
      tile.b = w.b.packed->panel(panel);
      place(w, panel * panel_width, 0, true, tile);
      bool several = panel + at_once <= std::min(end, whole);
      if (several)
        w.kernels.thin[kind](tile);
      else if (panel < whole)
        w.kernels.single_thin[kind](tile);
      else
        run_at_edge(w.kernels.single_thin[kind], tile, w.c.count, w.c.width - panel * panel_width);
      panel += several ? at_once : 1;
    }
  });
}

void check_sizes(const Matrix<float>& a, std::int64_t b_rows, std::int64_t b_columns, const Rows<float>& c) {
  check(a.columns == b_rows && c.count == a.rows && c.width == b_columns,
        "matmul: [{}, {}] times [{}, {}] does not give [{}, {}]", a.rows, a.columns, b_rows, b_columns, c.count,
        c.width);
}

}  // namespace

PackedMatrix::PackedMatrix(const Matrix<float>& b)
    : storage_(allocate(bytes(floats_for(b.rows, b.columns)))), rows_(b.rows), columns_(b.columns) {
  float* memory = reinterpret_cast<float*>(storage_->data);
  data_ = memory;
  pack(b, memory);
}

PackedMatrix::PackedMatrix(const Matrix<float>& b, float* memory) : data_(memory), rows_(b.rows), columns_(b.columns) {
  pack(b, memory);
}

std::int64_t PackedMatrix::floats_for(std::int64_t rows, std::int64_t columns) {
  return divide_up(columns, panel_width) * panel_width * rows;
}

const float* PackedMatrix::panel(std::int64_t i) const { return data_ + i * rows_ * panel_width; }

void matmul(const Matrix<float>& a, const PackedMatrix& b, const Rows<float>& c, const MatmulStart<float>& start) {
  check_sizes(a, b.rows(), b.columns(), c);
  if (c.count == 0 || c.width == 0) return;
  if (c.count <= most_thin_rows)
    multiply_thin({a, {&b, nullptr}, c, start});
  else
    multiply_blocks({a, {&b, nullptr}, c, start});
}

void matmul(const Matrix<float>& a, const Matrix<float>& b, const Rows<float>& c, const MatmulStart<float>& start) {
  check_sizes(a, b.rows, b.columns, c);
  if (c.count == 0 || c.width == 0) return;
  if (c.count <= most_block_rows)
    multiply_blocks({a, {nullptr, &b}, c, start});
  else
    matmul(a, PackedMatrix(b), c, start);
}

}  // namespace attune::kernels
