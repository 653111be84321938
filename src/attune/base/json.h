#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "attune/base/file.h"

namespace attune {

/// JSON values: nlohmann's, with keys kept in the file's order. Include base/json_values.h only in sources that build
/// or walk values; read configs through ConfigReader (base/config_reader.h).
using Json = nlohmann::ordered_json;

/// A JSON value that a struct can hold without nlohmann's header: shared, never changed. Null at first.
class JsonValue {
 public:
  JsonValue();
  JsonValue(const Json& value);  // NOLINT: implicit on purpose; copies
  const Json& operator*() const { return *value_; }
  const Json* operator->() const { return value_.get(); }

 private:
  std::shared_ptr<const Json> value_;
};

/// Parses one JSON text. Throws Error "SOURCE: line L, column C: ..." on a syntax error, bad UTF-8, a key given twice,
/// NUL bytes, nesting deeper than 200, or text behind the value. `source` names the text in errors.
Json parse_json(std::string_view text, const std::string& source);
Json read_json(const Path& path);

/// Text of a value; indent < 0 for one line. Throws Error where a string is not UTF-8.
std::string to_text(const Json& value, int indent = -1);

/// A string as a JSON string with its quotes.
std::string json_quoted(std::string_view text);
/// The same at the end of a text.
void append_quoted(std::string& json, std::string_view text);

/// TOML 1.0 as the equal JSON value (dates as strings, keys in the order of their names). Throws Error with line and
/// column.
Json parse_toml(std::string_view text, const std::string& source);
Json read_toml(const Path& path);

}  // namespace attune
