#include "attune/nn/position/alibi.h"

#include <bit>
#include <cmath>

#include "attune/base/error.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/attention_scores.h"

namespace attune {

namespace {

const RegisterPositions registered({
    .name = "alibi",
    .paper = "Press et al. 2022, Train short, test long: attention with linear biases",
    .build = [](const ConfigReader&, const PositionUse& use, const Weights&) -> PositionParts {
      return {.scores = [slopes = alibi_slopes(use.sizes.heads)](const Weights&) { return alibi(slopes); }};
    },
});

}  // namespace

std::vector<double> alibi_slopes(std::int64_t heads) {
  check(heads > 0, "ALiBi: no slopes for {} heads", heads);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<double> slopes;
  auto slope = [](std::int64_t i, std::int64_t of) {
    return std::exp2(-8 * static_cast<double>(i) / static_cast<double>(of));
  };
  for (std::int64_t i = 1; i <= power; ++i) slopes.push_back(slope(i, power));
  for (std::int64_t i = 1; static_cast<std::int64_t>(slopes.size()) < heads; i += 2)
    slopes.push_back(slope(i, 2 * power));
  return slopes;
}

}  // namespace attune
