#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/nn/batch.h"

namespace attune {

/// A text, or a piece of one, as a model reads it.
struct TextPiece {
  std::size_t text = 0, number = 0;  // whose it is, and which of its pieces
  std::vector<std::int64_t> ids = {};
  std::vector<std::int64_t> type_ids = {};  // as long as ids in all pieces, or empty in all: as in Batch
};

struct PieceBatches {
  std::int64_t batch_tokens = 8192;
  std::string doing = "reading";  // for the progress
};

/// Calls `work` with ragged batches of the pieces in their order: their numbers, and the batch. No gradients are kept.
/// Throws Cancelled where the run is stopped.
void for_each_batch(std::span<const TextPiece> pieces, const PieceBatches& options, const Run& run,
                    const std::function<void(std::span<const std::int64_t> numbers, const Batch& batch)>& work);

}  // namespace attune
