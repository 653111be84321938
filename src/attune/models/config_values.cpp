#include "attune/models/config_values.h"

#include <nlohmann/json.hpp>

#include "attune/base/error.h"

namespace attune {

Activation read_activation(const ConfigReader& config, const std::string& key, const std::string& otherwise) {
  std::string name = config.string_or(key, otherwise);
  try {
    return parse_activation(name);
  } catch (const Error& error) {
    config.reject(key, error.what());
  }
}

std::vector<std::int64_t> read_token_ids(const ConfigReader& config, const std::string& key,
                                         std::vector<std::int64_t> otherwise) {
  const Json& value = config.raw(key);
  if (value.is_null()) return otherwise;
  std::vector<std::int64_t> ids;
  for (const Json& id : value.is_array() ? value : Json::array({value})) {
    if (!id.is_number_integer()) config.reject(key, "expected a token id or a list of them");
    if (id.get<std::int64_t>() >= 0) ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

}  // namespace attune
