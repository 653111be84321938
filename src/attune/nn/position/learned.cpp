#include "attune/nn/position/learned.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/nn/position/positions.h"
#include "attune/nn/position/resize.h"
#include "attune/ops/linear.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

const RegisterPositions registered({
    .name = "learned",
    .paper = "Gehring et al. 2017, Convolutional sequence to sequence learning (section 3.1)",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights& w) -> PositionParts {
      if (use.longest <= 0 && !config.has("length"))
        config.reject("length", "learned positions have a table: say of how many tokens");
      const std::int64_t length = config.integer_or("length", use.longest, {.at_least = 1});
      LearnedPositions positions(w, length, use.hidden_size, use.deviation);
      if (config.has("stretched_to"))
        positions = positions.stretched_to(config.integer("stretched_to", {.at_least = static_cast<double>(length)}));
      return {.added = [positions](const Batch& batch) { return positions(batch); }, .longest = positions.longest()};
    },
});

}  // namespace

LearnedPositions LearnedPositions::stretched_to(std::int64_t length) const {
  check(length >= table_.table().dim(0), "{} learned positions cannot be stretched to {}: expected no fewer",
        table_.table().dim(0), length);
  LearnedPositions stretched = *this;
  stretched.between_ =
      resizing_matrix(table_.table().dim(0), length, {Resizing::Filter::linear}, table_.table().dtype());
  return stretched;
}

Tensor LearnedPositions::operator()(const Batch& batch) const {
  const std::int64_t count = longest();
  std::int64_t last = -1;
  for (std::int64_t position : batch.positions.values<std::int64_t>()) last = std::max(last, position);
  check(last < count, "a sequence of {} tokens is longer than the {} positions that this model learned: shorten it",
        last + 1, count);
  if (!between_.defined()) return table_(batch.positions);
  const LinearWeight table(table_.table(), true);
  // The same bits either way: one token in decoding does not want the whole table.
  if (batch.tokens() < count) return linear(select_rows(between_, batch.positions), table);
  return select_rows(linear(between_, table), batch.positions);
}

}  // namespace attune
