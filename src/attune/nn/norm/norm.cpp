#include "attune/nn/norm/norm.h"

#include "attune/ops/arithmetic.h"
#include "attune/ops/layer_norm.h"
#include "attune/ops/rms_norm.h"
#include "attune/ops/view.h"

namespace attune {

Norm Norm::layer(const Weights& w, std::int64_t width, double epsilon, bool bias) {
  Norm norm;
  norm.weight_ = w.parameter("weight", {width}, Initial::ones());
  norm.bias_ = bias ? w.parameter("bias", {width}, Initial::zeros()) : Tensor::zeros({width}, w.type());
  norm.epsilon_ = epsilon;
  return norm;
}

Norm Norm::layer_without_weights(std::int64_t width, double epsilon, DType type) {
  Norm norm;
  norm.weight_ = Tensor::full({width}, 1, type);
  norm.bias_ = Tensor::zeros({width}, type);
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

Norm Norm::by_head(const Weights& w, const Shape& heads_by_width, double epsilon, HeadWeights weights) {
  Norm norm;
  norm.kind_ = Kind::heads;
  norm.epsilon_ = epsilon;
  if (weights == HeadWeights::together) {
    norm.weight_ = w.parameter("weight", heads_by_width, Initial::ones());
    norm.bias_ = Tensor::zeros({heads_by_width[1]}, w.type());
  } else {
    for (std::int64_t head = 0; head < heads_by_width[0]; ++head)
      norm.of_head_.push_back(layer(w / "norms" / head, heads_by_width[1], epsilon, false));
  }
  return norm;
}

Tensor Norm::each_head(const Tensor& x) const {
  const std::int64_t tokens = x.dim(0), heads = x.dim(1), values = x.dim(2);
  const Tensor flat = reshape(x, {tokens, heads * values});
  std::vector<Tensor> parts;  // of each head [tokens, width]
  for (std::int64_t head = 0; head < heads; ++head) {
    const Tensor part = columns(flat, head * values, (head + 1) * values);
    parts.push_back(of_head_.empty()
                        ? layer_norm(part, reshape(row_range(weight_, head, head + 1), {values}), bias_, epsilon_)
                        : of_head_.at(static_cast<std::size_t>(head))(part));
  }
  return contiguous(transposed(reshape(concatenate_rows(parts), {heads, tokens, values}), 0, 1));
}

Tensor Norm::operator()(const Tensor& x) const {
  if (identity()) return x;
  if (kind_ == Kind::heads) return each_head(x);
  const Tensor weight = ones_.defined() ? add(weight_, ones_) : weight_;
  return kind_ == Kind::layer ? layer_norm(x, weight, bias_, epsilon_) : rms_norm(x, weight, epsilon_);
}

}  // namespace attune
