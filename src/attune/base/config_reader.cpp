#include "attune/base/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {

struct ConfigReader::State {
  std::shared_ptr<const Json> root;  // keeps `object` alive
  const Json* object;
  std::string source;
  std::string prefix;                                      // "rope_scaling." for a nested object
  std::set<std::string, std::less<>> asked;                // names that are known: somebody asked for them
  std::set<std::string, std::less<>> read;                 // and those that may be there
  std::map<std::string, std::shared_ptr<State>> children;  // nested objects by key
  Json defaults = Json::object();                          // what was taken for keys that are not there

  /// The value, counted as read; nullptr if absent.
  const Json* take(std::string_view key) {
    asked.emplace(key);
    read.emplace(key);
    auto found = object->find(std::string(key));
    return found == object->end() ? nullptr : &*found;
  }
  /// The same, where null counts as absent.
  const Json* take_if_set(std::string_view key) {
    const Json* value = take(key);
    return value && !value->is_null() ? value : nullptr;
  }
  /// The value of a key that is not there: the first that was taken for it.
  template <class T>
  T otherwise(std::string_view key, T value) {
    defaults.emplace(key, value);
    return value;
  }
  double otherwise(std::string_view key, double value) {
    const bool whole = value == std::floor(value) && std::abs(value) < 1e15;  // 10000 as a file would say it
    defaults.emplace(key, whole ? Json(static_cast<std::int64_t>(value)) : Json(value));
    return value;
  }
  std::string path(std::string_view key) const { return "\"" + prefix + std::string(key) + "\""; }

  void collect_unknown(std::vector<std::string>& unknown) const {
    for (const auto& [key, value] : object->items()) {
      if (read.contains(key)) continue;
      std::string near = nearest_name(key, asked);
      unknown.push_back(path(key) + (near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
    }
    for (const auto& [key, child] : children) child->collect_unknown(unknown);
  }
};

bool ConfigRange::holds(double value) const {
  return value >= at_least && value <= at_most && value > above && value < below;
}

std::string ConfigRange::text() const {
  const ConfigRange all;
  std::vector<std::string> bounds;
  if (at_least > all.at_least) bounds.push_back(fmt::format("at least {}", at_least));
  if (above > all.above) bounds.push_back(fmt::format("above {}", above));
  if (at_most < all.at_most) bounds.push_back(fmt::format("at most {}", at_most));
  if (below < all.below) bounds.push_back(fmt::format("below {}", below));
  return fmt::format("{}", fmt::join(bounds, " and "));
}

namespace {

std::string shown(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>()))  // JSON has no word for these
    return fmt::format("{}", value.get<double>());
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= 60) return text;
  std::size_t cut = 57;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not within a character
  return text.substr(0, cut) + "...";
}

std::string expected(const char* what, const ConfigReader::Range& range) {
  const std::string bounds = range.text();
  return fmt::format("expected {}{}{}", what, bounds.empty() ? "" : ", ", bounds);
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

constexpr const char* whole_number = "a whole number";
constexpr const char* any_number = "a number";

}  // namespace

ConfigReader::ConfigReader(const Json& object, std::string source) : state_(std::make_shared<State>()) {
  check(object.is_object(), "reading {}: it holds {}: expected an object of keys and values", source, shown(object));
  state_->root = std::make_shared<const Json>(object);
  state_->object = state_->root.get();
  state_->source = std::move(source);
}

ConfigReader::ConfigReader(std::shared_ptr<State> state) : state_(std::move(state)) {}

ConfigReader ConfigReader::file(const Path& path) {
  if (path.extension() == ".toml") return ConfigReader(read_toml(path), path.string());
  check(path.extension() == ".json", "reading {}: expected a name that ends in .json or .toml", path.string());
  return ConfigReader(read_json(path), path.string());
}

bool ConfigReader::has(std::string_view key) const {
  state_->asked.emplace(key);
  auto found = state_->object->find(std::string(key));
  if (found == state_->object->end()) return false;
  if (found->is_null()) state_->take(key);  // null says nothing more than absence: whoever asked has read it
  return !found->is_null();
}

bool ConfigReader::gives_null(std::string_view key) const {
  state_->asked.emplace(key);
  auto found = state_->object->find(std::string(key));
  return found != state_->object->end() && found->is_null();
}

void ConfigReader::reject(std::string_view key, const std::string& why) const {
  auto found = state_->object->find(std::string(key));
  if (found == state_->object->end()) fail("reading {}: {} is missing: {}", state_->source, state_->path(key), why);
  fail("reading {}: {} is {}: {}", state_->source, state_->path(key), shown(*found), why);
}

const std::string& ConfigReader::source() const { return state_->source; }

std::int64_t ConfigReader::integer(std::string_view key, Range range) const {
  const Json* value = state_->take(key);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  bool fits =
      value && value->is_number_integer() && (!value->is_number_unsigned() || value->get<std::uint64_t>() <= most);
  if (!fits || !range.holds(static_cast<double>(value->get<std::int64_t>())))
    reject(key, expected(whole_number, range));
  return value->get<std::int64_t>();
}

std::int64_t ConfigReader::integer_or(std::string_view key, std::int64_t otherwise, Range range) const {
  return state_->take_if_set(key) ? integer(key, range) : state_->otherwise(key, otherwise);
}

double ConfigReader::number(std::string_view key, Range range) const {
  const Json* value = state_->take(key);
  // A NaN, which TOML can spell, is inside no range.
  if (!value || !value->is_number() || !range.holds(value->get<double>())) reject(key, expected(any_number, range));
  return value->get<double>();
}

double ConfigReader::number_or(std::string_view key, double otherwise, Range range) const {
  return state_->take_if_set(key) ? number(key, range) : state_->otherwise(key, otherwise);
}

bool ConfigReader::flag(std::string_view key) const {
  const Json* value = state_->take(key);
  if (!value || !value->is_boolean()) reject(key, "expected true or false");
  return value->get<bool>();
}

bool ConfigReader::flag_or(std::string_view key, bool otherwise) const {
  return state_->take_if_set(key) ? flag(key) : state_->otherwise(key, otherwise);
}

std::string ConfigReader::string(std::string_view key) const {
  const Json* value = state_->take(key);
  if (!value || !value->is_string()) reject(key, "expected a text in quotes");
  return value->get<std::string>();
}

std::string ConfigReader::string_or(std::string_view key, std::string otherwise) const {
  return state_->take_if_set(key) ? string(key) : state_->otherwise(key, std::move(otherwise));
}

std::string ConfigReader::choice(std::string_view key, const std::vector<std::string>& allowed) const {
  const Json* value = state_->take(key);
  if (value && value->is_string() && std::ranges::find(allowed, value->get_ref<const std::string&>()) != allowed.end())
    return value->get<std::string>();
  std::string near = value && value->is_string() ? nearest_name(value->get<std::string>(), allowed) : "";
  reject(key, fmt::format("expected one of {}{}", joined(allowed),
                          near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

std::string ConfigReader::choice_or(std::string_view key, std::string otherwise,
                                    const std::vector<std::string>& allowed) const {
  return state_->take_if_set(key) ? choice(key, allowed) : state_->otherwise(key, std::move(otherwise));
}

std::vector<std::string> ConfigReader::strings_or(std::string_view key, std::vector<std::string> otherwise) const {
  const Json* value = state_->take_if_set(key);
  if (!value) return otherwise;
  if (!value->is_array() || !std::ranges::all_of(*value, [](const Json& item) { return item.is_string(); }))
    reject(key, "expected a list of texts");
  return value->get<std::vector<std::string>>();
}

std::vector<double> ConfigReader::numbers_or(std::string_view key, std::vector<double> otherwise) const {
  const Json* value = state_->take_if_set(key);
  if (!value) return otherwise;
  auto fits = [](const Json& item) { return item.is_number() && std::isfinite(item.get<double>()); };
  if (!value->is_array() || !std::ranges::all_of(*value, fits)) reject(key, "expected a list of numbers");
  return value->get<std::vector<double>>();
}

ConfigReader ConfigReader::object_or_empty(std::string_view key) const {
  static const Json empty = Json::object();
  const Json* value = state_->take_if_set(key);
  if (value && !value->is_object()) reject(key, "expected an object of keys and values");
  std::shared_ptr<State>& child = state_->children[std::string(key)];
  if (!child) {
    child = std::make_shared<State>();
    child->root = state_->root;
    child->object = value ? value : &empty;
    child->source = state_->source;
    child->prefix = state_->prefix + std::string(key) + ".";
  }
  return ConfigReader(child);
}

const Json& ConfigReader::raw(std::string_view key) const {
  static const Json null;
  const Json* value = state_->take(key);
  return value ? *value : null;
}

JsonValue ConfigReader::defaults() const { return state_->defaults; }

void ConfigReader::ignore(const std::vector<std::string>& keys) const { state_->read.insert(keys.begin(), keys.end()); }

void ConfigReader::finish() const {
  std::vector<std::string> unknown;
  state_->collect_unknown(unknown);
  check(unknown.empty(), "reading {}: unknown key{} {}: remove or correct {}", state_->source,
        unknown.size() > 1 ? "s" : "", joined(unknown), unknown.size() > 1 ? "them" : "it");
}

}  // namespace attune
