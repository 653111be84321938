#pragma once

#include "attune/models/head.h"

namespace attune {

/// A decoder's states to logits over the vocabulary; labels are not shifted: the decoder's input is.
class SequenceToSequenceHead : public Head {
 public:
  /// `scale`: of the states before the output layer.
  SequenceToSequenceHead(Linear output, double scale) : output_(std::move(output)), scale_(scale) {}
  Tensor features(const Tensor& hidden, const Batch&, const std::vector<std::int64_t>* rows) const override;
  const Linear& output() const override { return output_; }

 private:
  Linear output_;
  double scale_;
};

/// A text's class from its last end token, where the decoder has read all of it (Lewis et al. 2020, "BART", section
/// 3.1): dropout, dense, tanh, dropout, output layer. Chunks of one document are averaged before the output layer.
class EndTokenHead : public Head {
 public:
  struct Values {
    std::int64_t hidden, labels, end_token_id;
    double dropout, deviation;
  };
  EndTokenHead(const Weights& w, const Values& values);
  /// Throws Error, naming the sequence, where one has no end token.
  Tensor features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const override;
  const Linear& output() const override { return output_; }
  bool over_sequences() const override { return true; }

 private:
  Values values_;
  Linear dense_, output_;
};

}  // namespace attune
