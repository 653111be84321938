#pragma once

#include <optional>

#include "attune/nn/attention/multi_head.h"
#include "attune/nn/feedforward/feedforward.h"
#include "attune/nn/norm/norm.h"

namespace attune {

/// Where a sublayer's norm stands: after the residual sum (Vaswani et al. 2017) or on the sublayer's input (Xiong et
/// al. 2020).
enum class NormOrder { post, pre };

/// The one Transformer block. An encoder, a decoder and an encoder-decoder differ in its values alone: the mask in
/// `attention.rule`, and whether `cross` is there.
struct Block {
  MultiHead attention;
  Norm attention_norm;
  std::optional<MultiHead> cross = {};  // looks at a Memory
  Norm cross_norm = {};
  FeedForward feedforward;
  Norm feedforward_norm;
  NormOrder order = NormOrder::pre;
  double dropout = 0;  // on each sublayer's output, before the residual sum
  Place place = {};

  /// x: [tokens, hidden]. `memory` is needed where `cross` is there. Returns [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory = nullptr) const;
};

}  // namespace attune
