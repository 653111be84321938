#include "attune/nn/named_object.h"

#include <fmt/core.h>

#include "attune/base/json_values.h"

namespace attune {

ConfigReader named_object_or_empty(const ConfigReader& config, std::string_view key, std::string_view name) {
  if (config.has(key) && config.raw(key).is_string())
    config.reject(key, fmt::format("expected a table: {{{} = {}}}", name, to_text(config.raw(key))));
  return config.object_or_empty(key);
}

}  // namespace attune
