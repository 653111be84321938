#pragma once

#include <span>

#include "attune/kernels/pooling.h"

namespace attune::kernels {

// Segment s is rows [starts[s], starts[s + 1]) of x; y has one row for each. Backward functions add to what is there.

void segment_mean(Rows<const float> x, std::span<const std::int64_t> starts, Rows<float> y);
void segment_mean_backward(Rows<const float> dy, std::span<const std::int64_t> starts, Rows<float> dx);

/// y[s, c] = the largest x[t, c], where[s, c] = the first t that has it; 0 and -1 in an empty segment. NaN counts as
/// the largest.
void segment_max(Rows<const float> x, std::span<const std::int64_t> starts, Rows<float> y, Rows<std::int64_t> where);
void segment_max_backward(Rows<const float> dy, Rows<const std::int64_t> where, Rows<float> dx);

/// weights[t] = exp(scores[t]) / sum over its segment of exp(scores).
void segment_softmax(std::span<const float> scores, std::span<const std::int64_t> starts, std::span<float> weights);
/// y[s, :] = sum over t of weights[t] x[t, :].
void segment_weighted_sum(std::span<const float> weights, Rows<const float> x, std::span<const std::int64_t> starts,
                          Rows<float> y);
/// Of y = segment_weighted_sum(segment_softmax(scores), x).
void softmax_pool_backward(std::span<const float> weights, Rows<const float> x, std::span<const std::int64_t> starts,
                           Rows<const float> dy, SoftmaxPoolGradient<float> d);

}  // namespace attune::kernels
