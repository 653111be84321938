#include "attune/nn/position/rotary_grid.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/nn/position/rotary.h"

namespace attune {

GridPlaces grid_places(const GridSize& size, std::int64_t merge, std::int64_t frames) {
  check(merge > 0 && frames >= 0 && size.height >= 0 && size.width >= 0 && size.height % merge == 0 &&
            size.width % merge == 0,
        "positions: a grid of {} x {} in {} frames is not made of blocks of {} x {}", size.height, size.width, frames,
        merge, merge);
  GridPlaces places;
  for (std::int64_t frame = 0; frame < frames; ++frame)
    for (std::int64_t top = 0; top < size.height; top += merge)
      for (std::int64_t left = 0; left < size.width; left += merge)
        for (std::int64_t inside = 0; inside < merge * merge; ++inside) {
          places.rows.push_back(top + inside / merge);
          places.columns.push_back(left + inside % merge);
        }
  return places;
}

RotaryTable rotary_table(const GridPlaces& places, std::int64_t head_dim, double theta) {
  check(head_dim > 0 && head_dim % 4 == 0,
        "rotary positions on a grid: {} values of a head do not divide into pairs for rows and for columns", head_dim);
  check(places.rows.size() == places.columns.size(), "rotary positions on a grid: {} rows for {} columns",
        places.rows.size(), places.columns.size());
  const RopeConfig axis = {.theta = theta, .rotary_dims = head_dim / 2};
  const RotaryTable by_row = rotary_table(axis, places.rows), by_column = rotary_table(axis, places.columns);
  const Shape shape{static_cast<std::int64_t>(places.rows.size()), head_dim / 2};
  const std::int64_t quarter = head_dim / 4;
  RotaryTable both{Tensor::empty(shape), Tensor::empty(shape)};
  copy_into(by_row.cos, both.cos.slice(1, 0, quarter));
  copy_into(by_column.cos, both.cos.slice(1, quarter, 2 * quarter));
  copy_into(by_row.sin, both.sin.slice(1, 0, quarter));
  copy_into(by_column.sin, both.sin.slice(1, quarter, 2 * quarter));
  return both;
}

}  // namespace attune
