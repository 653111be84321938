#include "attune/nn/position/sinusoidal_positions.h"

#include <algorithm>

#include "attune/nn/position/positions.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

const RegisterPositions registered({
    .name = "sinusoidal",
    .paper = "Vaswani et al. 2017, Attention is all you need (section 3.5)",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights& w) -> PositionParts {
      const bool halves = config.choice_or("layout", "interleaved", {"interleaved", "halves"}) == "halves";
      constexpr std::int64_t most_prepared = 2048;
      const SinusoidalPositions positions(std::min(use.longest, most_prepared), use.hidden_size,
                                          halves ? SinusoidalLayout::halves : SinusoidalLayout::interleaved);
      return {.added = [positions, type = w.type()](const Batch& batch) { return positions(batch).to(type); }};
    },
});

}  // namespace

Tensor SinusoidalPositions::operator()(const Batch& batch) const {
  std::int64_t longest = 0;
  for (std::int64_t position : batch.positions.values<std::int64_t>()) longest = std::max(longest, position + 1);
  if (longest <= table_.dim(0)) return select_rows(table_, batch.positions);
  return sinusoidal_rows(batch.positions.values<std::int64_t>(), table_.dim(1), layout_);
}

}  // namespace attune
