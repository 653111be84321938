#pragma once

#include "attune/tensor/quantised.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// The numbers that the blocks stand for, in a float type.
Tensor dequantise(const QuantisedTensor& x, DType type = DType::F32);

/// x, of a float type, in blocks along its last dimension. Throws Error where kernels::quantise() does: for a format
/// that is not written, a last dimension of no whole blocks, a value that is not finite.
QuantisedTensor quantise(const Tensor& x, QuantisedFormat format);

/// y = x W^T + b. x: [..., in], last stride 1; weight: [out, in] in blocks; bias: [out], or a tensor that is not
/// defined. Returns [..., out] of x's type. In f32, x is rounded to 8 bits in blocks of 32 and the products are summed
/// as whole numbers (kernels/cpu/quantised_matmul.h says how far that is from the exact product); a row gives the same
/// bits whatever else is in the batch. In f64 it is the product with the numbers that the blocks stand for. The
/// gradient, of x and the bias alone, is that of the latter. Throws Error where shapes or types do not fit.
Tensor quantised_linear(const Tensor& x, const QuantisedTensor& weight, const Tensor& bias = {});

/// y[t, :] = table[ids[t], :]. table: [entries, width] in blocks; ids: [tokens], i64 or i32; y: [tokens, width], f32 or
/// f64. Throws Error with the id, its place and the table's size where an id is outside of the table.
Tensor quantised_embedding(const QuantisedTensor& table, const Tensor& ids, DType type = DType::F32);

}  // namespace attune
