#include "attune/nn/position/sinusoidal_positions.h"

#include <algorithm>

#include "attune/ops/view.h"

namespace attune {

Tensor SinusoidalPositions::operator()(const Batch& batch) const {
  std::int64_t longest = 0;
  for (std::int64_t position : batch.positions.values<std::int64_t>()) longest = std::max(longest, position + 1);
  if (longest <= table_.dim(0)) return select_rows(table_, batch.positions);
  return select_rows(sinusoidal_table(longest, table_.dim(1), layout_), batch.positions);
}

}  // namespace attune
