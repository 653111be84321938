#pragma once

#include "attune/kernels/sequence_convolution.h"

namespace attune::kernels {

void sequence_convolution(const SequenceConvolution<float>& c, const float* x, float* y);
/// dx += the transposed convolution of dy.
void sequence_convolution_input_gradient(const SequenceConvolution<float>& c, const float* dy, float* dx);
/// dfilters[h, j] += sum over t of dy[t, h, :] . x[t + j - width / 2, h, :].
void sequence_convolution_filter_gradient(const SequenceConvolution<float>& c, const float* x, const float* dy,
                                          float* dfilters);

}  // namespace attune::kernels
