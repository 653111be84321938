#pragma once

#include "attune/kernels/adamw.h"

namespace attune::kernels {

/// One step of AdamW (Loshchilov & Hutter 2019, algorithm 2) as torch.optim.AdamW takes it:
///   p *= 1 - lr * decay;  m += (1 - b1) (g - m);  v = b2 v + (1 - b2) g^2;
///   p -= lr / (1 - b1^step) * m / (sqrt(v) / sqrt(1 - b2^step) + epsilon).
void adamw(const AdamWRule& rule, AdamWValues<float> values);
/// Sum of squares, in f64, in an order that depends on the number of values alone.
double squared_norm(std::span<const float> x);
/// x *= factor.
void scale_in_place(double factor, std::span<float> x);

}  // namespace attune::kernels
