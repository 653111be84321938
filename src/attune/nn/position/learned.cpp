#include "attune/nn/position/learned.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

Tensor LearnedPositions::operator()(const Batch& batch) const {
  std::int64_t last = -1;
  for (std::int64_t position : batch.positions.values<std::int64_t>()) last = std::max(last, position);
  check(last < table_.table().dim(0),
        "a sequence of {} tokens is longer than the {} positions that this model learned: shorten it", last + 1,
        table_.table().dim(0));
  return table_(batch.positions);
}

}  // namespace attune
