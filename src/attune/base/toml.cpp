#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {

namespace {

template <class Value>
std::string in_words(const Value& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object.emplace(std::string(key.str()), to_json(value));
    return object;
  }
  if (const auto* items = node.as_array()) {
    Json array = Json::array();
    for (const auto& value : *items) array.push_back(to_json(value));
    return array;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_date()) return in_words(value->get());
  if (const auto* value = node.as_time()) return in_words(value->get());
  return in_words(node.as_date_time()->get());
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& source) {
  try {
    toml::table table = toml::parse(text, source);
    return to_json(table);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    fail("{}: line {}, column {}: {}", source, at.line, at.column, error.description());
  }
}

Json read_toml(const Path& path) { return parse_toml(read_file(path), path.string()); }

}  // namespace attune
