#pragma once

#include <vector>

#include "attune/base/json.h"
#include "attune/bundle/gguf_config_parts.h"
#include "attune/checkpoint/gguf_architecture.h"

namespace attune {

/// config.json's object of the model that a GGUF file holds, as its publisher would have written it. Throws Error that
/// names the file, and the key where it is missing or of another kind.
Json gguf_config(const GgufFile& file, const GgufArchitecture& architecture);

/// The same way back: metadata of the model's sizes, and the vectors that belong to the config. Throws Error that names
/// what a GGUF file of that architecture has no place for. `config` is one that build_model has accepted, `defaults`
/// what it took for the keys that are not there.
GgufConfigTarget gguf_config_target(const Json& config, const Json& defaults, const GgufArchitecture& architecture);

}  // namespace attune
