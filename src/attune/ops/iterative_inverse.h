#pragma once

#include "attune/tensor/tensor.h"

namespace attune {

/// Whose largest column sum divides the first guess of an inverse.
enum class InverseGuess {
  each,      // the matrix's own
  together,  // that of all matrices of the batch, as models were published with: a smaller guess, for all the same
};

/// Towards the Moore-Penrose inverse of each matrix whose entries are at least 0 and whose rows sum to 1, as a softmax
/// gives them (Xiong et al. 2021, "Nystromformer", section 3.2, after Razavi et al. 2014):
///   Z_0 = A^T / (largest sum of a column of A),
///   Z   = Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4, `steps` times.
/// The paper takes 6 steps. a: [batch, m, m], f32 or f64. Returns [batch, m, m], each matrix by itself; the gradient is
/// that of the steps. Throws Error unless the matrices are square.
Tensor iterative_inverse(const Tensor& a, int steps, InverseGuess guess = InverseGuess::each);

}  // namespace attune
