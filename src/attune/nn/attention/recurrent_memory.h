#pragma once

#include <functional>

#include "attune/nn/batch.h"
#include "attune/nn/parameters.h"

namespace attune {

struct RecurrentMemorySizes {
  std::int64_t segment = 128, memory_tokens = 16, hidden_size = 0;
  bool causal = true;
};

/// Memory tokens that carry a sequence's past from segment to segment (Bulatov et al. 2022, "Recurrent memory
/// transformer", sections 3.1 and 3.2). A sequence is cut into segments, and the stack of blocks sees
/// [memory; segment; memory] in a decoder, whose last tokens alone have seen the segment, and [memory; segment] in an
/// encoder. What the stack makes of the (last) memory tokens is the memory of the next segment; before the first it is
/// a learned vector a token. The gradient flows back through all segments. All sequences of a batch advance together:
/// step s runs segment s of those that have one.
class RecurrentMemory {
 public:
  /// Declares "memory" [memory_tokens, hidden] under `w`.
  RecurrentMemory(const Weights& w, const RecurrentMemorySizes& sizes);

  /// The blocks, and all that a model does around them: from the embedded tokens of a batch to their final states,
  /// [tokens, hidden] both. Positions are those of the batch it is given, which count from 0 in each segment.
  using Stack = std::function<Tensor(const Tensor& x, const Batch& batch)>;
  /// x: [tokens, hidden] without positions. Returns the stack's final states of the tokens, [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, const Stack& stack) const;

  const RecurrentMemorySizes& sizes() const { return sizes_; }

 private:
  RecurrentMemorySizes sizes_;
  Tensor memory_;  // [memory_tokens, hidden]
};

}  // namespace attune
