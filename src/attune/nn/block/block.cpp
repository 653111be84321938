#include "attune/nn/block/block.h"

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"

namespace attune {

Tensor Block::joined(const Tensor& sum, const Tensor& out, const Norm& norm, const Batch& batch,
                     std::string_view site) const {
  Tensor y = norm(out);
  if (residual_scale != 1) y = scale(y, residual_scale);
  return batch.dropout && dropout > 0 ? dropout_add(y, sum, dropout, place.key(batch, site), batch.places)
                                      : add(sum, y);
}

Tensor Block::beside(const Tensor& x, const Batch& batch, Observer* observer) const {
  check(order == NormOrder::pre && !cross, "a feed-forward network beside attention reads a norm of the block's input");
  const Tensor read = attention_norm(x);
  const Tensor y = joined(x, attention.self(read, batch, place, observer), attention_output_norm, batch, "attention");
  const Tensor& other = feedforward_reads == FeedForwardInput::beside ? feedforward_norm(x) : read;
  return joined(y, feedforward(other, batch, place.key(batch, "activation")), feedforward_output_norm, batch,
                "feedforward");
}

Tensor Block::operator()(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory) const {
  if (feedforward_reads != FeedForwardInput::attended) return beside(x, batch, observer);
  // One sublayer with its residual: x + f(norm(x)), or norm(x + f(x)).
  auto sublayer = [&](const Tensor& in, const Norm& norm, const Norm& output_norm, std::string_view name, auto&& f) {
    const Tensor sum = joined(in, f(order == NormOrder::pre ? norm(in) : in), output_norm, batch, name);
    return order == NormOrder::post ? norm(sum) : sum;
  };
  Tensor y = sublayer(x, attention_norm, attention_output_norm, "attention",
                      [&](const Tensor& t) { return attention.self(t, batch, place, observer); });
  if (cross) {
    check(memory != nullptr, "a block with cross-attention needs a memory to look at");
    y = sublayer(y, cross_norm, {}, "cross",
                 [&](const Tensor& t) { return cross->cross(t, batch, *memory, place, observer); });
  }
  return sublayer(y, feedforward_norm, feedforward_output_norm, "feedforward",
                  [&](const Tensor& t) { return feedforward(t, batch, place.key(batch, "activation")); });
}

}  // namespace attune
