#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/ops/activation.h"

namespace attune {

/// An activation by its published name ("gelu_new"); an unknown one is an Error that names the key.
Activation read_activation(const ConfigReader& config, const std::string& key, const std::string& otherwise);

/// One token id or a list of them ("eos_token_id": 2, or [128001, 128009]); -1 means none. `otherwise` where the key
/// is absent or null.
std::vector<std::int64_t> read_token_ids(const ConfigReader& config, const std::string& key,
                                         std::vector<std::int64_t> otherwise);

/// One token id below `vocab_size`; `otherwise` where the key is absent or null.
std::optional<std::int64_t> read_token_id(const ConfigReader& config, const std::string& key,
                                          std::optional<std::int64_t> otherwise, std::int64_t vocab_size);

/// `alias` is a second spelling of `key`: where a config holds it, it must say the same.
void check_alias(const ConfigReader& config, const std::string& alias, const std::string& key, std::int64_t value);

/// What transformers writes into every config object and what changes nothing in a forward or a training step here.
const std::vector<std::string>& harmless_keys();

}  // namespace attune
