#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// y[b] = a[b] c[b] for each matrix of a batch. a: [..., m, k], c: [..., k, n], the same leading dimensions (none: one
/// product), any strides; f32 or f64. Returns [..., m, n]. Each value is one chain of multiply-adds in the order of k:
/// a product has the bits that it has alone. Throws Error where shapes or types do not fit.
Tensor batched_matmul(const Tensor& a, const Tensor& c);

}  // namespace attune
