#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/json.h"

namespace attune {

/// The numbers that a key, or an option of the command line, may hold.
struct ConfigRange {
  double at_least = -1.7e308;
  double at_most = 1.7e308;
  double above = -std::numeric_limits<double>::infinity();  // the same bounds without the ends
  double below = std::numeric_limits<double>::infinity();

  bool holds(double value) const;  // no NaN
  std::string text() const;        // "at least 0 and at most 1"; "" where all are
};

/// Reads one JSON or TOML object strictly: a wrong type, a missing key or a value out of range is an Error that names
/// the file and the key's path; finish() turns every key that nobody read into one Error with the nearest known name.
///
///   ConfigReader c = ConfigReader::file(directory / "config.json");
///   int layers = c.integer("num_hidden_layers", {.at_least = 1});
///   double epsilon = c.number_or("layer_norm_eps", 1e-12);
///   c.ignore({"transformers_version"});
///   c.finish();
///
/// Copies share the record of what was read. A key spelled in two ways is read with `has`.
class ConfigReader {
 public:
  using Range = ConfigRange;

  ConfigReader(const Json& object, std::string source);  // throws unless it is an object
  static ConfigReader file(const Path& path);            // .json or .toml, by the ending

  bool has(std::string_view key) const;         // there and not null; only a null counts as read by this
  bool gives_null(std::string_view key) const;  // there, as null: where that says another thing than absence
  /// The key is there and null counts as absent for the ..._or forms.
  std::int64_t integer(std::string_view key, Range range = {}) const;
  std::int64_t integer_or(std::string_view key, std::int64_t otherwise, Range range = {}) const;
  double number(std::string_view key, Range range = {}) const;
  double number_or(std::string_view key, double otherwise, Range range = {}) const;
  bool flag(std::string_view key) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  std::string string(std::string_view key) const;
  std::string string_or(std::string_view key, std::string otherwise) const;
  /// One of `allowed`; anything else is an Error that lists them.
  std::string choice(std::string_view key, const std::vector<std::string>& allowed) const;
  std::string choice_or(std::string_view key, std::string otherwise, const std::vector<std::string>& allowed) const;
  std::vector<std::string> strings_or(std::string_view key, std::vector<std::string> otherwise) const;
  std::vector<double> numbers_or(std::string_view key, std::vector<double> otherwise) const;
  /// A nested object with its own strictness: its finish() is called by this one's. Absent or null: an empty object.
  ConfigReader object_or_empty(std::string_view key) const;
  /// The raw value, counted as read; null if absent.
  const Json& raw(std::string_view key) const;

  /// What was taken so far for keys that are absent or null: their values by name, of this object alone, not of nested
  /// ones. Lists are not among them.
  JsonValue defaults() const;
  void ignore(const std::vector<std::string>& keys) const;
  void finish() const;
  /// An Error about one key of this object, with its path and source.
  [[noreturn]] void reject(std::string_view key, const std::string& why) const;
  const std::string& source() const;

 private:
  struct State;
  explicit ConfigReader(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace attune
