#pragma once

#include <optional>

#include "attune/nn/batch.h"
#include "attune/nn/linear.h"
#include "attune/ops/activation.h"
#include "attune/ops/view.h"

namespace attune {

/// The position-wise feed-forward network of a block: down(act(up(x))) (Vaswani et al. 2017, eq. 2), or, with a gate,
/// down(act(gate(x)) * up(x)) (Shazeer 2020, "GLU variants improve Transformer").
struct FeedForward {
  Linear up = {}, down = {};
  std::optional<Linear> gate = {};
  std::optional<Linear> gate_and_up = {};  // one matrix for both, the gate's outputs first: then gate and up are empty
  Activation activation = Activation::relu;
  double dropout = 0;  // on what `down` reads

  /// x: [tokens, hidden]. `site` keys the dropout. Returns [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const {
    return down(batch.dropped(inner(x), dropout, site));
  }

 private:
  Tensor inner(const Tensor& x) const {
    if (gate_and_up) {
      const Tensor both = (*gate_and_up)(x);
      const std::int64_t width = both.dim(1) / 2;
      return gated(columns(both, 0, width), columns(both, width, 2 * width), activation);
    }
    return gate ? gated((*gate)(x), up(x), activation) : attune::activation(up(x), activation);
  }
};

}  // namespace attune
