#pragma once

#include <string>

#include "attune/base/config_reader.h"
#include "attune/nn/position/rotary.h"
#include "attune/ops/activation.h"

namespace attune {

/// An activation by its published name ("gelu_new"); an unknown one is an Error that names the key.
Activation read_activation(const ConfigReader& config, const std::string& key, const std::string& otherwise);

/// Rotary positions in either spelling: `rope_theta` with `rope_scaling` (transformers 4), or `rope_parameters` (5).
RopeConfig read_rope(const ConfigReader& config, std::int64_t head_dim);

}  // namespace attune
