#include "attune/evaluate/scored_records.h"

#include <initializer_list>
#include <unordered_map>
#include "attune/base/json_values.h"

#include "attune/base/blank_lines.h"
#include "attune/base/error.h"
#include "attune/text/utf8.h"

namespace attune::evaluate {

namespace {

[[noreturn]] void reject(const ScoredRecord& record, const std::string& field, const std::string& why) {
  fail("{}: \"{}\": {}", record.place, field, why);
}

/// The name among the usual ones that the record has, unless one is given.
std::string chosen(const ScoredRecord& record, const std::string& field, std::initializer_list<const char*> usual) {
  if (!field.empty()) {
    check(record.value->contains(field), "{}: there is no \"{}\"", record.place, field);
    return field;
  }
  std::string names;
  for (const char* name : usual) {
    if (record.value->contains(name)) return name;
    names += (names.empty() ? "\"" : " or \"") + std::string(name) + "\"";
  }
  fail("{}: there is no {}", record.place, names);
}

const Json& member(const ScoredRecord& record, const std::string& name) { return record.value->at(name); }

std::string text_of(const ScoredRecord& record, const std::string& name, const Json& value) {
  if (!value.is_string()) reject(record, name, "expected a text, got " + to_text(value).substr(0, 40));
  return value;
}

std::vector<std::string> texts_of(const ScoredRecord& record, const std::string& name, const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) texts.push_back(text_of(record, name, one));
  return texts;
}

double number_of(const ScoredRecord& record, const std::string& name, const Json& value) {
  if (!value.is_number()) reject(record, name, "expected a number, got " + to_text(value).substr(0, 40));
  return value;
}

std::int64_t whole_of(const ScoredRecord& record, const std::string& name, const Json& value) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 != 0))
    reject(record, name, "expected a whole number, got " + to_text(value).substr(0, 40));
  return value;
}

TypedSpan entity_of(const ScoredRecord& record, const Json& value) {
  const auto has = [&](const char* name) { return value.is_object() && value.contains(name); };
  if (!has("start") || !has("end") || !has("label"))
    reject(record, "entities", "expected {\"start\", \"end\", \"label\"}, got " + to_text(value).substr(0, 60));
  return {text_of(record, "label", value["label"]), whole_of(record, "start", value["start"]),
          whole_of(record, "end", value["end"])};
}

}  // namespace

ScoredRecord parse_scored(std::string_view line, std::int64_t number, const std::string& place) {
  const Json value = parse_json(line, place);
  check(value.is_object(), "{}: expected an object, {{...}}", place);
  const bool given = value.contains("id") && !value["id"].is_null();
  return {given ? to_text(value["id"]) : std::to_string(number), value, place};
}

ScoredRecords read_scored(const Path& path) {
  ScoredRecords records{.source = path.string(), .items = {}};
  const bool plain = path.extension() == ".txt";
  std::unordered_map<std::string, std::int64_t> lines;
  std::int64_t with_id = 0;
  BlankLines blanks;
  for_each_line(path, [&](std::int64_t number, std::string_view line) {
    const std::string place = fmt::format("{}, line {}", records.source, number);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (plain) {
      check_utf8(line, place);
      records.items.push_back({std::to_string(number), Json{{"text", line}}, place});
      return;
    }
    if (line.find_first_not_of(" \t") == std::string_view::npos) return blanks.add(number);
    ScoredRecord record = parse_scored(line, number, place);
    if (record.value->contains("id") && !(*record.value)["id"].is_null()) {
      ++with_id;
      const auto [before, fresh] = lines.try_emplace(record.id, number);
      check(fresh, "{}: the id {} stands in line {}, too", place, record.id, before->second);
    }
    records.items.push_back(std::move(record));
  });
  check(!records.items.empty(), "{}: there is no record in it", records.source);
  blanks.tell(records.source);
  const auto all = static_cast<std::int64_t>(records.items.size());
  check(with_id == 0 || with_id == all, "{}: {} of {} records have an \"id\": give it to all or to none",
        records.source, with_id, all);
  records.ids = with_id > 0;
  return records;
}

std::vector<std::size_t> match(const ScoredRecords& first, const ScoredRecords& second) {
  std::vector<std::size_t> places;
  if (!first.ids || !second.ids) {
    check(first.items.size() == second.items.size(),
          "{} has {} records and {} has {}: without ids in both they belong together by their order", first.source,
          first.items.size(), second.source, second.items.size());
    for (std::size_t i = 0; i < first.items.size(); ++i) places.push_back(i);
    return places;
  }
  std::unordered_map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < second.items.size(); ++i) by_id[second.items[i].id] = i;
  for (const ScoredRecord& record : first.items) {
    const auto found = by_id.find(record.id);
    check(found != by_id.end(), "{}: {} has no record of the id {}", record.place, second.source, record.id);
    places.push_back(found->second);
  }
  check(places.size() == second.items.size(), "{} has {} records and {} has {}: {} of its ids are not there",
        first.source, places.size(), second.source, second.items.size(), second.items.size() - places.size());
  return places;
}

std::string text_in(const ScoredRecord& record, const std::string& field) {
  const std::string name = chosen(record, field, {"text"});
  return text_of(record, name, member(record, name));
}

std::vector<std::string> references_in(const ScoredRecord& record, const std::string& field) {
  const std::string name = chosen(record, field, {"references", "target", "text"});
  const Json& value = member(record, name);
  if (!value.is_array()) return {text_of(record, name, value)};
  if (value.empty()) reject(record, name, "there is no reference in it");
  return texts_of(record, name, value);
}

std::vector<TypedSpan> spans_in(const ScoredRecord& record, const std::string& field, TagReading reading) {
  const std::string name = chosen(record, field, {"tags", "entities"});
  const Json& value = member(record, name);
  if (!value.is_array()) reject(record, name, "expected a list of tags, or of entities");
  if (!value.empty() && value[0].is_string()) {
    const std::vector<std::string> tags = texts_of(record, name, value);
    return within(record.place, [&] { return spans_of_tags(tags, reading); });
  }
  std::vector<TypedSpan> spans;
  for (const Json& entity : value) spans.push_back(entity_of(record, entity));
  return spans;
}

std::vector<std::string> answers_in(const ScoredRecord& record, const std::string& field) {
  const std::string name = chosen(record, field, {"answers"});
  const Json* value = &member(record, name);
  if (value->is_null()) return {};
  if (value->is_object() && value->contains("text")) value = &(*value)["text"];
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) reject(record, name, "expected a list of texts");
  std::vector<std::string> answers;
  for (const Json& one : *value)
    answers.push_back(text_of(record, name, one.is_object() && one.contains("text") ? one["text"] : one));
  return answers;
}

std::vector<std::pair<std::string, double>> scores_in(const ScoredRecord& record, const std::string& field) {
  const std::string name = chosen(record, field, {"scores", "ranking"});
  const Json& value = member(record, name);
  std::vector<std::pair<std::string, double>> scores;
  if (value.is_object()) {
    for (const auto& [document, score] : value.items()) scores.emplace_back(document, number_of(record, name, score));
    return scores;
  }
  if (!value.is_array()) reject(record, name, "expected {\"document\": score}, or a list of documents, the best first");
  for (const std::string& document : texts_of(record, name, value))
    scores.emplace_back(document, -static_cast<double>(scores.size()));
  return scores;
}

std::map<std::string, std::int64_t> grades_in(const ScoredRecord& record, const std::string& field) {
  const std::string name = chosen(record, field, {"relevant"});
  const Json& value = member(record, name);
  std::map<std::string, std::int64_t> grades;
  if (value.is_object()) {
    for (const auto& [document, grade] : value.items()) grades[document] = whole_of(record, name, grade);
    return grades;
  }
  if (!value.is_array()) reject(record, name, "expected {\"document\": grade}, or a list of documents");
  for (const std::string& document : texts_of(record, name, value)) grades[document] = 1;
  return grades;
}

std::optional<double> probability_in(const ScoredRecord& record, const std::string& field) {
  if (!record.value->contains(field) || member(record, field).is_null()) return std::nullopt;
  return number_of(record, field, member(record, field));
}

}  // namespace attune::evaluate
