#include "attune/nn/block/block.h"

#include "attune/base/error.h"
#include "attune/ops/arithmetic.h"

namespace attune {

Tensor Block::operator()(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory) const {
  // One sublayer with its residual: x + f(norm(x)), or norm(x + f(x)).
  auto sublayer = [&](const Tensor& in, const Norm& norm, std::string_view name, auto&& f) {
    Tensor out = f(order == NormOrder::pre ? norm(in) : in);
    Tensor sum = batch.dropout && dropout > 0 ? dropout_add(out, in, dropout, place.key(batch, name), batch.places)
                                              : add(in, out);
    return order == NormOrder::post ? norm(sum) : sum;
  };
  Tensor y = sublayer(x, attention_norm, "attention",
                      [&](const Tensor& t) { return attention.self(t, batch, place, observer); });
  if (cross) {
    check(memory != nullptr, "a block with cross-attention needs a memory to look at");
    y = sublayer(y, cross_norm, "cross",
                 [&](const Tensor& t) { return cross->cross(t, batch, *memory, place, observer); });
  }
  return sublayer(y, feedforward_norm, "feedforward",
                  [&](const Tensor& t) { return feedforward(t, batch, place.key(batch, "activation")); });
}

}  // namespace attune
