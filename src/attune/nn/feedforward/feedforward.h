#pragma once

#include <optional>

#include "attune/nn/batch.h"
#include "attune/nn/linear.h"
#include "attune/ops/activation.h"

namespace attune {

/// The position-wise feed-forward network of a block: down(act(up(x))) (Vaswani et al. 2017, eq. 2), or, with a gate,
/// down(act(gate(x)) * up(x)) (Shazeer 2020, "GLU variants improve Transformer").
struct FeedForward {
  Linear up, down;
  std::optional<Linear> gate = {};
  Activation activation = Activation::relu;
  double dropout = 0;  // on what `down` reads

  /// x: [tokens, hidden]. `site` keys the dropout. Returns [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const {
    Tensor inner = gate ? gated((*gate)(x), up(x), activation) : attune::activation(up(x), activation);
    return down(batch.dropped(inner, dropout, site));
  }
};

}  // namespace attune
