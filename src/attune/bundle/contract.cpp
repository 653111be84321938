#include "attune/bundle/contract.h"

#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"

namespace attune {

namespace {

constexpr int format_version = 1;

Json to_json(const DataSource& s) {
  return {{"part", s.part}, {"file", s.file}, {"sha256", s.sha256}, {"documents", s.documents}};
}

DataSource data_source(const Json& json, const std::string& source) {
  ConfigReader c(json, source);
  DataSource s{c.string("part"), c.string("file"), c.string("sha256"), c.integer("documents", {.at_least = 0})};
  c.finish();
  return s;
}

}  // namespace

LongPolicy::Kind LongPolicy::parse(const std::string& name) {
  for (Kind kind : {Kind::refuse, Kind::chunk, Kind::stride})
    if (name == name_of(kind)) return kind;
  fail("long policy \"{}\": expected refuse, chunk or stride", name);
}

std::string name_of(LongPolicy::Kind kind) {
  if (kind == LongPolicy::Kind::stride) return "stride";
  return kind == LongPolicy::Kind::chunk ? "chunk" : "refuse";
}

Contract Contract::read(const Path& file) {
  ConfigReader c = ConfigReader::file(file);
  std::int64_t version = c.integer("format_version");
  if (version != format_version)
    c.reject("format_version", fmt::format("this program reads version {}", format_version));
  Contract contract;
  contract.task = c.string_or("task", "");
  contract.labels = c.strings_or("labels", {});
  ConfigReader lengths = c.object_or_empty("long");
  contract.long_policy.kind = LongPolicy::parse(lengths.choice_or("policy", "refuse", {"refuse", "chunk", "stride"}));
  contract.long_policy.longest = lengths.integer_or("longest", 0, {.at_least = 0});
  if (c.has("calibration"))
    contract.calibration = evaluate::calibration_contract(c.raw("calibration"), file.string() + ": \"calibration\"");
  if (c.has("data")) {
    if (!c.raw("data").is_array()) c.reject("data", "must be a list of the parts that the model learned from");
    for (const Json& entry : c.raw("data")) contract.data.push_back(data_source(entry, file.string() + ": \"data\""));
  }
  contract.evaluation = c.raw("evaluation");
  c.finish();
  return contract;
}

std::string Contract::text() const {
  Json json = {{"format_version", format_version}, {"task", task}};
  json["labels"] = labels;
  json["long"] = {{"policy", name_of(long_policy.kind)}, {"longest", long_policy.longest}};
  if (calibration) json["calibration"] = evaluate::to_json(*calibration);
  json["data"] = Json::array();
  for (const DataSource& source : data) json["data"].push_back(to_json(source));
  if (!evaluation->is_null()) json["evaluation"] = *evaluation;
  return to_text(json, 2) + "\n";
}

void Contract::write(const Path& file) const { write_file_atomically(file, text()); }

}  // namespace attune
