#include "attune/nn/feedforward/feedforward.h"

#include "attune/nn/feedforward/experts.h"
#include "attune/ops/view.h"

namespace attune {

Tensor FeedForward::operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const {
  if (experts) return (*experts)(x, batch, site);
  return down(batch.dropped(inner(x), dropout, site));
}

Tensor FeedForward::inner(const Tensor& x) const {
  if (gate_and_up) {
    const Tensor both = (*gate_and_up)(x);
    const std::int64_t width = both.width() / 2;
    return gated(columns(both, 0, width), columns(both, width, 2 * width), activation);
  }
  return gate ? gated((*gate)(x), up(x), activation) : attune::activation(up(x), activation);
}

}  // namespace attune
