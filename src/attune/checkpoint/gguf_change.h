#pragma once

#include <cstdint>
#include <vector>

#include "attune/checkpoint/gguf_architecture.h"
#include "attune/tensor/quantised.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// The numbers of heads that the changes of rows depend on.
struct GgufHeads {
  std::int64_t query = 0, key = 0;
};

/// Whether published values, which are no blocks, are others than the file's bytes as they stand: a copy.
bool is_copy(GgufChange change);
Shape published_shape(const Shape& file, GgufChange change);

/// The file's row for each row of the published tensor. Throws Error where the rows are not whole heads.
std::vector<std::int64_t> file_rows(GgufChange change, std::int64_t rows, GgufHeads heads);

/// The published tensor of the file's values: the same storage where nothing but the shape changes, f32 for one_more.
Tensor published_values(const Tensor& file, GgufChange change, GgufHeads heads);
/// The same for blocks, which are never copied. For `transposed` they stay as the file has them, [out, in]: blocks lie
/// along the inputs.
QuantisedTensor published_blocks(const QuantisedTensor& file, GgufChange change, GgufHeads heads);
/// The file's tensor of the published values.
Tensor file_values(const Tensor& published, GgufChange change, GgufHeads heads);

}  // namespace attune
