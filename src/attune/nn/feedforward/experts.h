#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attune/nn/feedforward/feedforward.h"

namespace attune {

/// How the scores of a token's chosen experts become the weights of their results.
enum class ExpertWeights {
  of_all,     // their shares of the softmax over all experts (Qwen 2 MoE)
  of_chosen,  // the same, divided by their sum (Mixtral)
};

/// A mixture of experts in a feed-forward network's place (Shazeer et al. 2017; Jiang et al. 2024, "Mixtral of
/// experts", section 2.1): a router scores all networks for each token, the `chosen` best ones read it, and their
/// results are added by weight, those of lower number first. Rows are sorted by expert, so that each network is run
/// once; a row has the bits that it has alone. The router and the networks that were chosen get gradients. Of equal
/// scores the lower number is chosen.
class Experts {
 public:
  Linear router;                      // [experts]
  std::vector<FeedForward> networks;  // without dropout inside
  std::int64_t chosen = 1;            // networks a token, at most all
  ExpertWeights weights = ExpertWeights::of_chosen;
  /// Read by all tokens, and multiplied by sigmoid(shared_gate(x)) where there is one (Qwen 2 MoE).
  std::optional<FeedForward> shared = {};
  std::optional<Linear> shared_gate = {};

  /// x: [tokens, hidden]. Returns [tokens, hidden]. Leaves its routing in batch.routing, if that is there.
  Tensor operator()(const Tensor& x, const Batch& batch, const RandomKey& site) const;
};

/// What the routers of all layers gave in one pass over a batch.
struct Routing {
  struct Layer {
    Tensor shares;                     // [tokens, experts]: the softmax over all, on the tape
    std::vector<std::int64_t> counts;  // [experts]: tokens that chose it
  };
  std::vector<Layer> layers;
};

/// experts * sum over e of f_e p_e, where f_e is how many tokens of all layers chose expert e, p_e the sum of its
/// shares, both divided by the tokens of all layers (Fedus et al. 2022, "Switch Transformers", equations 4 to 6, as
/// transformers' load_balancing_loss_func joins layers): smallest where all experts are used alike. A scalar on the
/// tape. Throws Error where no router ran.
Tensor balance_loss(const Routing& routing);

}  // namespace attune
