#pragma once

#include "attune/nn/parameters.h"

namespace attune {

/// How a norm's weight multiplies what was normalised.
enum class NormWeight {
  plain,       // by the weight
  one_and_up,  // by 1 + weight, so that a weight of 0 changes nothing (Gemma)
};

/// LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019) with its weights: a block does not know which. One
/// made of nothing is the identity.
class Norm {
 public:
  Norm() = default;
  static Norm layer(const Weights& w, std::int64_t width, double epsilon, bool bias = true);
  static Norm rms(const Weights& w, std::int64_t width, double epsilon, NormWeight form = NormWeight::plain);

  bool identity() const { return !weight_.defined(); }
  std::int64_t width() const { return weight_.dim(0); }
  /// x: [..., width]
  Tensor operator()(const Tensor& x) const;

 private:
  enum class Kind { layer, rms } kind_ = Kind::layer;
  Tensor weight_, bias_;  // [width]; bias_: zeros where the norm has none, not defined for RMSNorm
  Tensor ones_;           // [width]: what is added to the weight; not defined: nothing
  double epsilon_ = 0;
};

}  // namespace attune
