// A learned number for each head and bucket of distances, one table for all blocks.
#include <fmt/format.h>

#include "attune/nn/position/positions.h"
#include "attune/ops/attention_scores.h"
#include "attune/ops/relative_buckets.h"

namespace attune {

namespace {

const RegisterPositions registered({
    .name = "t5",
    .paper = "Raffel et al. 2020, Exploring the limits of transfer learning with a unified text-to-text Transformer "
             "(section 2.1)",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights& w) -> PositionParts {
      const double least = use.causal ? 2 : 4;
      const T5Buckets sizes{.buckets = config.integer_or("buckets", 32, {.at_least = least, .at_most = 1 << 20}),
                            .longest = config.integer_or("max_distance", 128, {.at_least = 1, .at_most = 1 << 30}),
                            .both_ways = !use.causal};
      const std::int64_t exact = sizes.buckets / static_cast<std::int64_t>(least);
      if (sizes.longest <= exact)
        config.reject("max_distance", fmt::format("{} buckets (\"buckets\") give the distances below {} one each: "
                                                  "expected a longer distance{}, or fewer buckets",
                                                  sizes.buckets, exact, config.has("max_distance") ? "" : " than 128"));
      const Tensor table = (w / "relative_attention_bias")
                               .parameter("weight", {sizes.buckets, use.sizes.heads}, Initial::normal(use.deviation));
      const ScoreChanges bias = distance_bias(table, [sizes](std::int64_t d) { return t5_bucket(d, sizes); });
      return {.scores = [bias](const Weights&) { return bias; }};
    },
});

}  // namespace

}  // namespace attune
