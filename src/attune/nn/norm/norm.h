#pragma once

#include <vector>

#include "attune/nn/parameters.h"

namespace attune {

/// How a norm's weight multiplies what was normalised.
enum class NormWeight {
  plain,       // by the weight
  one_and_up,  // by 1 + weight, so that a weight of 0 changes nothing (Gemma)
};

/// Where the weights of a norm that treats each head apart stand.
enum class HeadWeights {
  together,  // one weight [heads, head_dim] (Cohere)
  apart,     // a weight [head_dim] for each: "norms.0.weight" (StableLM)
};

/// LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019) with its weights: a block does not know which. One
/// made of nothing is the identity.
class Norm {
 public:
  Norm() = default;
  static Norm layer(const Weights& w, std::int64_t width, double epsilon, bool bias = true);
  static Norm rms(const Weights& w, std::int64_t width, double epsilon, NormWeight form = NormWeight::plain);
  /// Without weights: what is normalised stays as it is (OPT's layer_norm_elementwise_affine: false).
  static Norm layer_without_weights(std::int64_t width, double epsilon, DType type);
  /// LayerNorm without bias of each of `heads` heads, by weights of its own.
  static Norm by_head(const Weights& w, const Shape& heads_by_width, double epsilon, HeadWeights weights);

  bool identity() const { return !weight_.defined() && of_head_.empty(); }
  std::int64_t width() const { return of_head_.empty() ? weight_.dim(-1) : of_head_.front().width(); }
  /// x: [..., width]; by_head: [tokens, heads, width], contiguous
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor each_head(const Tensor& x) const;

  enum class Kind { layer, rms, heads } kind_ = Kind::layer;
  Tensor weight_, bias_;       // [width]; bias_: zeros where the norm has none, not defined for RMSNorm
  Tensor ones_;                // [width]: what is added to the weight; not defined: nothing
  std::vector<Norm> of_head_;  // HeadWeights::apart; weight_ is [heads, width] where they are together
  double epsilon_ = 0;
};

}  // namespace attune
