#pragma once

#include <string>
#include <vector>

#include "attune/checkpoint/safetensors.h"

namespace attune {

/// Where the metadata of a memory's file has its content_hash().
inline const std::string content_hash_key = "sha256";

/// SHA-256 over all that a memory's file holds: names, types, sizes and bytes of its tensors, and its metadata but the
/// hash itself. The order of the tensors does not matter.
std::string content_hash(const std::vector<NamedTensor>& tensors, const Metadata& metadata);

}  // namespace attune
