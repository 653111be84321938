#pragma once

#include "attune/kernels/sequence_convolution.h"

namespace attune::kernels {

void sequence_convolution(const SequenceConvolution<double>& c, const double* x, double* y);
/// dx += the transposed convolution of dy.
void sequence_convolution_input_gradient(const SequenceConvolution<double>& c, const double* dy, double* dx);
/// dfilters[h, j] += sum over t of dy[t, h, :] . x[t + j - width / 2, h, :].
void sequence_convolution_filter_gradient(const SequenceConvolution<double>& c, const double* x, const double* dy,
                                          double* dfilters);

}  // namespace attune::kernels
