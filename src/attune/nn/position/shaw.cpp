#include "attune/nn/position/shaw.h"

#include "attune/base/error.h"
#include "attune/nn/position/positions.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

namespace {

const RegisterPositions registered({
    .name = "shaw",
    .paper = "Shaw et al. 2018, Self-attention with relative position representations",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights&) -> PositionParts {
      const std::int64_t clip = config.integer_or("clip", 16, {.at_least = 0, .at_most = 1 << 20});
      return {.scores = [clip, use](const Weights& block) {
        return shaw_positions(block / "distance_embedding", clip, use.sizes.head_dim, use.deviation);
      }};
    },
});

}  // namespace

ScoreChanges shaw_positions(const Weights& w, std::int64_t clip, std::int64_t head_dim, double deviation) {
  check(clip >= 0 && head_dim > 0, "relative keys: no table for distances up to {} of {} values", clip, head_dim);
  const Tensor table = w.parameter("weight", {2 * clip + 1, head_dim}, Initial::normal(deviation));
  return relative_keys(table, [clip](std::int64_t d) { return shaw_bucket(d, clip); });
}

}  // namespace attune
