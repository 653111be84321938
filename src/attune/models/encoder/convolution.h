#pragma once

#include "attune/nn/parameters.h"
#include "attune/tensor/offsets.h"

namespace attune {

struct ConvolutionSizes {
  std::int64_t width = 0, kernel = 3, groups = 1;
  double deviation = 0.02;
};

/// A convolution along each sequence: y[t] = b + sum over j of W[:, :, j] x[t + j - kernel / 2], zeros beyond the
/// sequence's ends (PyTorch's Conv1d, same length out as in). With groups, outputs see their own group's inputs alone.
class Convolution {
 public:
  /// Weights "weight" [width, width / groups, kernel] and "bias" [width]; kernel is odd, groups divide width.
  Convolution(const Weights& w, const ConvolutionSizes& sizes);
  /// x: [tokens, width]. Returns the same shape.
  Tensor operator()(const Tensor& x, const Offsets& offsets) const;

 private:
  ConvolutionSizes sizes_;
  Tensor weight_, bias_;
};

}  // namespace attune
