#pragma once

#include <cstdint>
#include <limits>

#include "attune/tensor/tensor.h"

namespace attune {

enum class Stack { encoder, decoder };

/// The part of a sequence's attention weights that an observer asks for: queries [begin, end), heads [first_head, +
/// heads). The default is all of them.
struct WantedWeights {
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_head = 0, heads = 0;  // 0: all from first_head on
};

/// Handed to a forward to look inside without changing a bit of the result.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Layer 0 is the embedding output, layer i the output of block i, the last after the final norm (as transformers
  /// counts).
  virtual void hidden_state(Stack stack, int layer, const Tensor& x) = 0;  // [tokens, hidden]
  /// Whether attention() is to be called for this layer: the weights are computed for it alone.
  virtual bool wants_attention(Stack stack, int layer) const = 0;
  /// Which rows and heads of a sequence; no other is computed.
  virtual WantedWeights wanted_weights(Stack, int, std::int64_t) const { return {}; }
  /// One sequence's weights, softmax rows. [heads, queries, keys] of those wanted
  virtual void attention(Stack stack, int layer, std::int64_t sequence, const Tensor& weights) = 0;
  /// The same for a decoder's attention to a Memory, always whole. [heads, queries, memory tokens of the sequence]
  virtual bool wants_cross_attention(int) const { return false; }
  virtual void cross_attention(int, std::int64_t, const Tensor&) {}
};

}  // namespace attune
