#pragma once

#include "attune/nn/parameters.h"
#include "attune/ops/layer_norm.h"
#include "attune/ops/rms_norm.h"

namespace attune {

/// LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019) with its weights: a block does not know which.
class Norm {
 public:
  Norm() = default;
  static Norm layer(const Weights& w, std::int64_t width, double epsilon) {
    return Norm(w.parameter("weight", {width}, Initial::ones()), w.parameter("bias", {width}, Initial::zeros()),
                epsilon);
  }
  static Norm rms(const Weights& w, std::int64_t width, double epsilon) {
    return Norm(w.parameter("weight", {width}, Initial::ones()), Tensor(), epsilon);
  }

  Tensor operator()(const Tensor& x) const {
    return bias_.defined() ? layer_norm(x, weight_, bias_, epsilon_) : rms_norm(x, weight_, epsilon_);
  }

 private:
  Norm(Tensor weight, Tensor bias, double epsilon)
      : weight_(std::move(weight)), bias_(std::move(bias)), epsilon_(epsilon) {}

  Tensor weight_, bias_;
  double epsilon_ = 0;
};

}  // namespace attune
