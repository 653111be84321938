#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

enum class Stack { encoder, decoder };

/// Handed to a forward to look inside without changing a bit of the result.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Layer 0 is the embedding output, layer i the output of block i, the last after the final norm (as transformers
  /// counts).
  virtual void hidden_state(Stack stack, int layer, const Tensor& x) = 0;  // [tokens, hidden]
  /// Whether attention() is to be called for this layer: the weights are computed for it alone.
  virtual bool wants_attention(Stack stack, int layer) const = 0;
  /// One sequence's weights, softmax rows. [heads, queries, keys]
  virtual void attention(Stack stack, int layer, std::int64_t sequence, const Tensor& weights) = 0;
  /// The same for a decoder's attention to a Memory. [heads, queries, memory tokens of the sequence]
  virtual bool wants_cross_attention(int) const { return false; }
  virtual void cross_attention(int, std::int64_t, const Tensor&) {}
};

}  // namespace attune
