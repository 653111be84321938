#pragma once

#include "attune/kernels/matrix.h"

namespace attune::kernels {

/// C = start + A B. a: [m, k], b: [k, n], c: [m, n]. Each element is one sum in the order of k.
void matmul(const Matrix<double>& a, const Matrix<double>& b, const Rows<double>& c,
            const MatmulStart<double>& start = {});

}  // namespace attune::kernels
