#include "attune/nn/norm/norm.h"

#include "attune/ops/arithmetic.h"
#include "attune/ops/layer_norm.h"
#include "attune/ops/rms_norm.h"

namespace attune {

Norm Norm::layer(const Weights& w, std::int64_t width, double epsilon, bool bias) {
  Norm norm;
  norm.weight_ = w.parameter("weight", {width}, Initial::ones());
  norm.bias_ = bias ? w.parameter("bias", {width}, Initial::zeros()) : Tensor::zeros({width}, w.type());
  norm.epsilon_ = epsilon;
  return norm;
}

Norm Norm::rms(const Weights& w, std::int64_t width, double epsilon, NormWeight form) {
  Norm norm;
  norm.kind_ = Kind::rms;
  const bool shifted = form == NormWeight::one_and_up;
  norm.weight_ = w.parameter("weight", {width}, shifted ? Initial::zeros() : Initial::ones());
  if (shifted) norm.ones_ = Tensor::full({width}, 1, w.type());
  norm.epsilon_ = epsilon;
  return norm;
}

Tensor Norm::operator()(const Tensor& x) const {
  if (identity()) return x;
  const Tensor weight = ones_.defined() ? add(weight_, ones_) : weight_;
  return kind_ == Kind::layer ? layer_norm(x, weight, bias_, epsilon_) : rms_norm(x, weight, epsilon_);
}

}  // namespace attune
