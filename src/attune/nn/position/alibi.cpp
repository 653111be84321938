#include "attune/nn/position/alibi.h"

#include <bit>
#include <cmath>

#include "attune/base/error.h"

namespace attune {

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
