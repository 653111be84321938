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

RopeConfig read_rope(const ConfigReader& config, std::int64_t head_dim) {
  RopeConfig rope{.rotary_dims = head_dim};
  // In transformers 5 one object holds theta and scaling; in 4 theta stands beside the object, and "rope_type" was once
  // "type".
  ConfigReader parameters = config.object_or_empty("rope_parameters");
  ConfigReader scaling = config.has("rope_parameters") ? parameters : config.object_or_empty("rope_scaling");
  rope.theta = config.number_or("rope_theta", 10000, {.at_least = 1e-6});
  rope.theta = parameters.number_or("rope_theta", rope.theta, {.at_least = 1e-6});
  std::string key = scaling.has("type") && !scaling.has("rope_type") ? "type" : "rope_type";
  std::string type = scaling.choice_or(key, "default", {"default", "linear", "llama3"});
  if (scaling.has("type")) scaling.ignore({"type"});
  if (type == "default") return rope;
  rope.factor = scaling.number("factor", {.at_least = 1});
  rope.scaling = RopeConfig::Scaling::linear;
  if (type == "linear") return rope;
  rope.scaling = RopeConfig::Scaling::llama3;
  rope.low_frequency_factor = scaling.number("low_freq_factor");
  rope.high_frequency_factor = scaling.number("high_freq_factor");
  rope.original_positions = scaling.number("original_max_position_embeddings", {.at_least = 1});
  return rope;
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
