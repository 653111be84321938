#pragma once

#include "attune/base/file.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Writes a tensor of f32 as a NumPy file, whole or not at all (format 1.0 of numpy.lib.format: magic, header of a
/// Python literal padded to 64 bytes, values in C order, little-endian).
void write_npy(const Path& path, const Tensor& tensor);

}  // namespace attune
