#include "attune/models/encoder/counted_positions.h"

#include "attune/base/error.h"

namespace attune {

namespace {

/// The table's row for each token. [tokens] I64
Tensor rows_of(const Batch& batch, const PositionCount& count) {
  const auto ids = batch.ids.values<std::int64_t>();
  std::vector<std::int64_t> rows;
  rows.reserve(ids.size());
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    std::int64_t next = count.first;
    for (std::int64_t t = batch.offsets.begin(s); t < batch.offsets.end(s); ++t) {
      const bool padding = count.padding_id && ids[static_cast<std::size_t>(t)] == *count.padding_id;
      rows.push_back(padding ? *count.padding_id : next++);
    }
    check(next <= count.rows,
          "a sequence of {} tokens is longer than the {} positions that this model learned: "
          "shorten it",
          next - count.first, count.longest());
  }
  return Tensor::from<std::int64_t>({batch.tokens()}, rows);
}

}  // namespace

std::function<Tensor(const Batch&)> counted_positions(const Weights& w, const PositionCount& count, std::int64_t width,
                                                      double deviation) {
  return [table = Embedding(w, count.rows, width, count.padding_id, deviation), count](const Batch& batch) {
    return table(rows_of(batch, count));
  };
}

}  // namespace attune
