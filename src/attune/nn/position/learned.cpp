#include "attune/nn/position/learned.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/nn/position/positions.h"
#include "attune/nn/position/resize.h"
#include "attune/ops/linear.h"
#include "attune/ops/view.h"

namespace attune {

namespace {

constexpr std::int64_t most = 1 << 20;  // rows of a table

/// "length", or the longest sequence of the model.
std::int64_t table_length(const ConfigReader& config, const PositionUse& use) {
  if (config.has("length")) return config.integer("length", {.at_least = 1, .at_most = most});
  constexpr const char* whose = "learned positions have a table with a row for each place: give the model's";
  if (use.longest <= 0) config.reject("length", fmt::format("{} max_position_embeddings, or the length here", whose));
  if (use.longest > most)
    config.reject("length", fmt::format("{} max_position_embeddings, now {}, as at most {}", whose, use.longest, most));
  return use.longest;
}

const RegisterPositions registered({
    .name = "learned",
    .paper = "Gehring et al. 2017, Convolutional sequence to sequence learning (section 3.1)",
    .build = [](const ConfigReader& config, const PositionUse& use, const Weights& w) -> PositionParts {
      const std::int64_t length = table_length(config, use);
      const std::int64_t longest =
          config.integer_or("stretched_to", length, {.at_least = static_cast<double>(length), .at_most = most});
      // Of two lengths one would have no effect.
      if (use.longest > 0 && use.longest != longest)
        config.reject(longest == length ? "length" : "stretched_to",
                      fmt::format("the model's max_position_embeddings is {}, and these positions are for {} tokens: "
                                  "give max_position_embeddings = {}{}, or leave it out",
                                  use.longest, longest, longest,
                                  longest == length ? "" : fmt::format(" and length = {}", length)));
      LearnedPositions positions(w, length, use.hidden_size, use.deviation);
      if (longest > length) positions = positions.stretched_to(longest);
      return {.added = [positions](const Batch& batch) { return positions(batch); }, .longest = positions.longest()};
    },
});

}  // namespace

LearnedPositions LearnedPositions::stretched_to(std::int64_t length) const {
  check(first_ == 0, "learned positions that begin at row {} of their table are not stretched", first_);
  check(length >= table_.count(), "{} learned positions cannot be stretched to {}: expected no fewer", table_.count(),
        length);
  LearnedPositions stretched = *this;
  stretched.between_ = resizing_matrix(table_.count(), length, {Resizing::Filter::linear}, table_.dtype());
  return stretched;
}

Tensor LearnedPositions::operator()(const Batch& batch) const {
  const std::int64_t count = longest();
  std::int64_t last = -1;
  for (std::int64_t position : batch.positions.values<std::int64_t>()) last = std::max(last, position);
  check(last < count, "a sequence of {} tokens is longer than the {} positions that this model learned: shorten it",
        last + 1, count);
  if (!between_.defined()) {
    if (first_ == 0) return table_(batch.positions);
    std::vector<std::int64_t> rows = batch.positions.to_vector<std::int64_t>();
    for (std::int64_t& row : rows) row += first_;
    return table_(Tensor::from<std::int64_t>({static_cast<std::int64_t>(rows.size())}, rows));
  }
  const LinearWeight table(table_.table(), true);
  // The same bits either way: one token in decoding does not want the whole table.
  if (batch.tokens() < count) return linear(select_rows(between_, batch.positions), table);
  return select_rows(linear(between_, table), batch.positions);
}

}  // namespace attune
