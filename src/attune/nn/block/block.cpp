#include "attune/nn/block/block.h"

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"

namespace attune {

Tensor Block::joined(const Tensor& sum, const Tensor& out, const Joining& how, const Batch& batch) const {
  Tensor y = how.output_norm(out);
  if (residual_scale != 1) y = scale(y, residual_scale);
  return batch.dropout && how.dropout > 0 ? dropout_add(y, sum, how.dropout, place.key(batch, how.site), batch.places)
                                          : add(sum, y);
}

Tensor Block::beside(const Tensor& x, const Batch& batch, Observer* observer) const {
  check(order == NormOrder::pre && !cross && !adds_to_normed,
        "a feed-forward network beside attention reads a norm of the block's input, and both are added to that input");
  const Tensor read = attention_norm(x);
  const Tensor y = joined(x, attention.self(read, batch, place, observer), attention_joining(), batch);
  const Tensor& other = feedforward_reads == FeedForwardInput::beside ? feedforward_norm(x) : read;
  return joined(y, feedforward(other, batch, place.key(batch, "activation")), feedforward_joining(), batch);
}

Tensor Block::operator()(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory) const {
  const Tensor y = sublayers(x, batch, observer, memory);
  return revised ? revised(x, y, batch) : y;
}

Tensor Block::sublayers(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory) const {
  if (feedforward_reads != FeedForwardInput::attended) return beside(x, batch, observer);
  // One sublayer with its residual: x + f(norm(x)), or norm(x + f(x)).
  auto sublayer = [&](const Tensor& in, const Norm& norm, const Joining& how, auto&& f) {
    const Tensor read = order == NormOrder::pre ? norm(in) : in;
    const Tensor sum = joined(adds_to_normed ? read : in, f(read), how, batch);
    return order == NormOrder::post ? norm(sum) : sum;
  };
  Tensor y = sublayer(x, attention_norm, attention_joining(),
                      [&](const Tensor& t) { return attention.self(t, batch, place, observer); });
  if (cross) {
    const Norm none;
    check(memory != nullptr, "a block with cross-attention needs a memory to look at");
    y = sublayer(y, cross_norm, {none, dropout, "cross"},
                 [&](const Tensor& t) { return cross->cross(t, batch, *memory, place, observer); });
  }
  return sublayer(y, feedforward_norm, feedforward_joining(),
                  [&](const Tensor& t) { return feedforward(t, batch, place.key(batch, "activation")); });
}

}  // namespace attune
