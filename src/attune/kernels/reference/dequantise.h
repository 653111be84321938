#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attune/kernels/quantised_rows.h"
#include "attune/kernels/rows.h"

namespace attune::kernels {

/// The numbers that `blocks` stand for: `values.size()` of them, a multiple of the format's block. Bit for bit what
/// ggml computes (product by product in f32, kernels/quantised_blocks.h).
void dequantise(QuantisedFormat format, const std::byte* blocks, std::span<float> values);

/// y[i, :] = table[indices[i], :]; indices lie within the table. Rows are shared among the threads.
void gather_rows(const QuantisedRows& table, std::span<const std::int64_t> indices, const Rows<float>& y);
void gather_rows(const QuantisedRows& table, std::span<const std::int64_t> indices, const Rows<double>& y);

}  // namespace attune::kernels
