#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attune/checkpoint/safetensors.h"

namespace attune {

/// A tensor that is made when its turn to be written comes, and let go behind it: a model that is converted need not
/// fit into memory.
struct TensorToWrite {
  std::string name;
  DType type = DType::F32;
  Shape shape;
  std::function<Tensor()> values;  // of that type and shape
};

/// write_safetensors (checkpoint/safetensors.h), one tensor in memory at a time, in the order in which they are
/// written. Throws Error, too, where a tensor is not of the type and shape that were said; then nothing is written.
void write_tensors(const Path& path, std::vector<TensorToWrite> tensors, const Metadata& metadata = pytorch_metadata);

/// write_sharded (checkpoint/checkpoint.h) in the same way.
void write_tensors_sharded(const Path& directory, const std::vector<TensorToWrite>& tensors,
                           const Metadata& metadata = pytorch_metadata,
                           std::int64_t shard_bytes = std::int64_t{5} * 1000 * 1000 * 1000);

/// Tensors that are in memory already.
std::vector<TensorToWrite> to_write(const std::vector<NamedTensor>& tensors);

}  // namespace attune
