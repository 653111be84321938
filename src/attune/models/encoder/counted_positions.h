#pragma once

#include <functional>
#include <optional>

#include "attune/nn/batch.h"
#include "attune/nn/embedding.h"

namespace attune {

/// Which row of a table of positions a token has.
struct PositionCount {
  std::int64_t rows = 0;   // of the table
  std::int64_t first = 0;  // the row of a sequence's first token
  /// Tokens of this id have this row, count for nothing, and give it no gradient (fairseq's make_positions).
  std::optional<std::int64_t> padding_id = {};

  /// fairseq's models count from the row behind the padding token's.
  static PositionCount behind_padding(std::int64_t rows, std::int64_t padding_id) {
    return {rows, padding_id + 1, padding_id};
  }
  std::int64_t longest() const { return rows - first; }
};

/// Vectors learned for places that are counted otherwise than from row 0; `w`: the table's name. The function returns
/// [tokens, width] and throws Error where a sequence has more tokens than the table has rows for.
std::function<Tensor(const Batch&)> counted_positions(const Weights& w, const PositionCount& count, std::int64_t width,
                                                      double deviation);

}  // namespace attune
