#include "attune/nn/position/learned_grid.h"

#include "attune/base/error.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

/// Before the parameter is declared.
GridSize checked(const GridSize& grid, std::int64_t prefix, std::int64_t width) {
  check(grid.height > 0 && grid.width > 0 && prefix >= 0 && width > 0,
        "learned positions: no table of {} values for a grid of {} x {} behind {} tokens", width, grid.height,
        grid.width, prefix);
  return grid;
}

}  // namespace

LearnedGrid::LearnedGrid(const Weights& w, std::string_view name, const GridSize& grid, std::int64_t prefix,
                         std::int64_t width, double deviation)
    : table_(w.parameter(name, {1, prefix + checked(grid, prefix, width).places(), width}, Initial::normal(deviation))),
      grid_(grid),
      prefix_(prefix) {}

Tensor LearnedGrid::operator()(const GridSize& size, const Resizing& how) const {
  const Tensor table = reshape(table_, {table_.dim(1), table_.dim(2)});
  if (size == grid_) return table;
  const Tensor patches = resize_grid(row_range(table, prefix_, table.dim(0)), grid_, size, how);
  return prefix_ == 0 ? patches : concatenate_rows({row_range(table, 0, prefix_), patches});
}

}  // namespace attune
