#include "attune/data/example_file.h"

#include <fmt/core.h>

#include "attune/base/json_values.h"

#include "attune/base/blank_lines.h"
#include "attune/base/config_reader.h"
#include "attune/base/error.h"

namespace attune {

namespace {

std::vector<std::int64_t> read_ids(const ConfigReader& c, const char* key, std::int64_t lowest) {
  std::vector<std::int64_t> ids;
  if (!c.has(key)) return ids;
  const Json& values = c.raw(key);
  if (!values.is_array()) c.reject(key, "must be a list of whole numbers");
  for (const Json& value : values) {
    bool whole = value.is_number_integer() && (value.get<std::int64_t>() >= lowest);
    if (!whole)
      c.reject(key, "holds " + to_text(value) + ": expected whole numbers from " + std::to_string(lowest) + " on");
    ids.push_back(value.get<std::int64_t>());
  }
  return ids;
}

Example parse_example(std::string_view line, const std::string& source) {
  ConfigReader c(parse_json(line, source), source);
  Example example;
  if (!c.has("ids")) c.reject("ids", "a line is {\"ids\":[..], \"labels\":[..], ...}");
  example.chunks = {read_ids(c, "ids", 0)};
  example.type_ids = read_ids(c, "token_type_ids", 0);
  example.decoder_ids = read_ids(c, "decoder_ids", 0);
  example.labels = read_ids(c, "labels", ignored_label);
  c.finish();
  return example;
}

/// Thrown to stop reading after the first line.
struct Enough {};

}  // namespace

std::vector<Example> read_examples(const Path& path, std::vector<std::int64_t>* lines) {
  std::vector<Example> examples;
  BlankLines blanks;
  for_each_line(path, [&](std::int64_t number, std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return blanks.add(number);
    examples.push_back(parse_example(line, fmt::format("{}: line {}", path.string(), number)));
    if (lines) lines->push_back(number);
  });
  check(!examples.empty(), "reading {}: it holds no line of ids", path.string());
  blanks.tell(path.string());
  return examples;
}

bool holds_examples(const Path& path) {
  if (path.extension() == ".csv" || path.extension() == ".tsv" || path.extension() == ".txt") return false;
  bool found = false;
  try {
    for_each_line(path, [&](std::int64_t, std::string_view line) {
      Json first = Json::parse(line, nullptr, false);
      found = first.is_object() && first.contains("ids");
      throw Enough{};
    });
  } catch (const Enough&) {
  }
  return found;
}

}  // namespace attune
