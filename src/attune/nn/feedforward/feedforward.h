#pragma once

#include <memory>
#include <optional>

#include "attune/nn/batch.h"
#include "attune/nn/linear.h"
#include "attune/ops/activation.h"
#include "attune/ops/view.h"

namespace attune {

class Experts;  // experts.h

/// The position-wise feed-forward network of a block: down(act(up(x))) (Vaswani et al. 2017, eq. 2), or, with a gate,
/// down(act(gate(x)) * up(x)) (Shazeer 2020, "GLU variants improve Transformer").
struct FeedForward {
  Linear up = {}, down = {};
  std::optional<Linear> gate = {};
  std::optional<Linear> gate_and_up = {};  // one matrix for both, the gate's outputs first: then gate and up are empty
  Activation activation = Activation::relu;
  double dropout = 0;  // on what `down` reads
  /// In the place of all the others: each token goes through a few of many networks.
  std::shared_ptr<const Experts> experts = {};

  /// x: [tokens, hidden]. `site` keys the dropout. Returns [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const;

 private:
  Tensor inner(const Tensor& x) const;  // what `down` reads, before dropout
};

}  // namespace attune
