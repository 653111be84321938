#pragma once

#include <functional>
#include <optional>

#include "attune/nn/attention/multi_head.h"
#include "attune/nn/feedforward/feedforward.h"
#include "attune/nn/norm/norm.h"

namespace attune {

/// Where a sublayer's norm stands: after the residual sum (Vaswani et al. 2017) or on the sublayer's input (Xiong et
/// al. 2020).
enum class NormOrder { post, pre };

/// What the feed-forward network of a block reads.
enum class FeedForwardInput {
  attended,          // attention's sum: one sublayer behind the other
  beside,            // the block's input, by its own norm: x + attention(n(x)) + feedforward(m(x)) (Black et al. 2022)
  beside_same_norm,  // the block's input, by attention's norm (Wang & Komatsuzaki 2021, GPT-J)
};

/// The one Transformer block. An encoder, a decoder and an encoder-decoder differ in its values alone: the mask in
/// `attention.rule`, and whether `cross` is there. A norm that is left out is the identity.
struct Block {
  MultiHead attention;
  Norm attention_norm = {};
  std::optional<MultiHead> cross = {};  // looks at a Memory
  Norm cross_norm = {};
  FeedForward feedforward;
  Norm feedforward_norm = {};
  NormOrder order = NormOrder::pre;
  /// Of a sublayer's output, before it joins the residual sum (Gemma 2, OLMo 2).
  Norm attention_output_norm = {}, feedforward_output_norm = {};
  FeedForwardInput feedforward_reads = FeedForwardInput::attended;  // the others: pre-norm without cross-attention
  double residual_scale = 1;  // of each sublayer's output before the residual sum (Granite)
  /// A pre-norm sublayer adds to what its norm gave, not to what the norm read (BLOOM's option).
  bool adds_to_normed = false;
  double dropout = 0;                              // on each sublayer's output, before the residual sum
  std::optional<double> feedforward_dropout = {};  // on the feed-forward network's, where that is another (ALBERT)
  /// What is made of the block's input and output in the output's place (DeBERTa-v2's convolution beside the first
  /// block). [tokens, hidden] all three.
  std::function<Tensor(const Tensor& in, const Tensor& out, const Batch& batch)> revised = {};
  Place place = {};

  /// x: [tokens, hidden]. `memory` is needed where `cross` is there. Returns [tokens, hidden].
  Tensor operator()(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory = nullptr) const;

 private:
  struct Joining {
    const Norm& output_norm;
    double dropout;
    std::string_view site;  // of its random numbers
  };
  Joining attention_joining() const { return {attention_output_norm, dropout, "attention"}; }
  Joining feedforward_joining() const {
    return {feedforward_output_norm, feedforward_dropout.value_or(dropout), "feedforward"};
  }
  /// sum + residual_scale norm(out), with dropout.
  Tensor joined(const Tensor& sum, const Tensor& out, const Joining& how, const Batch& batch) const;
  Tensor sublayers(const Tensor& x, const Batch& batch, Observer* observer, const Memory* memory) const;
  Tensor beside(const Tensor& x, const Batch& batch, Observer* observer) const;
};

}  // namespace attune
