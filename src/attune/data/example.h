#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// One thing to run a model on or learn from, in ids: what a line of `attune forward` says, and what every training
/// task is made of.
struct Example {
  /// The tokens; several pieces where a document is longer than the model's input (heads over sequences join them).
  std::vector<std::vector<std::int64_t>> chunks;
  std::vector<std::int64_t> type_ids = {};     // as long as chunks[0], or empty: as in Batch
  std::vector<std::int64_t> decoder_ids = {};  // of an encoder-decoder; empty with labels: the labels shifted right
  /// As in transformers: unshifted for causal models, one a token, ignored where -100; [class] for classification;
  /// [start, end] for answering, the numbers of the answer's first and last token.
  std::vector<std::int64_t> labels = {};

  static Example of(std::vector<std::int64_t> ids) { return {.chunks = {std::move(ids)}}; }
  std::int64_t tokens() const {
    std::int64_t sum = static_cast<std::int64_t>(decoder_ids.empty() ? 0 : decoder_ids.size());
    for (const auto& chunk : chunks) sum += static_cast<std::int64_t>(chunk.size());
    return sum;
  }
};

inline constexpr std::int64_t ignored_label = -100;

}  // namespace attune
