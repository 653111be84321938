#pragma once

#include <string_view>

#include "attune/base/config_reader.h"

namespace attune {

/// config's object `key`, whose member `name` says what it is: {"family": "full", ...}. Absent: an empty object. Throws
/// Error where a text stands there alone, and shows the object that it was meant for.
ConfigReader named_object_or_empty(const ConfigReader& config, std::string_view key, std::string_view name);

}  // namespace attune
