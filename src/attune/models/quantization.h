#pragma once

#include "attune/base/config_reader.h"
#include "attune/nn/parameters.h"

namespace attune {

/// Reads config.json's `quantization_config`: of the formats of compressed-tensors
/// (https://github.com/vllm-project/compressed-tensors) the one that ops/int8.h computes, weights in int8 with a scale
/// for each output and inputs rounded a row at a time, symmetric both. Returns how linear layers that the file has in
/// another form are kept: `otherwise`, or in int8 where the config's `tied_output`, a key of Attune's own, asks it for
/// the output layer that is the embeddings. Throws Error that names the key for every other method and format.
LinearFormat read_quantization(const ConfigReader& config, LinearFormat otherwise);

/// What read_quantization() reads, for a file whose linear layers are in int8 but those of `ignored`.
Json int8_quantization(const std::vector<std::string>& ignored);

}  // namespace attune
