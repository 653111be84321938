#include "attune/train/annotations.h"

#include <algorithm>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

std::string beginning_of(std::string_view text) {
  return json_quoted(code_point_range(text, 0, 40)) + (code_points(text) > 40 ? "..." : "");
}

/// The field's value; `form` is what it should be.
Json value_of(const Document& document, const std::string& field, const char* form) {
  const auto found = document.fields.find(field);
  check(found != document.fields.end(), "there is no {}: expected {}, or [] where there is none", json_quoted(field),
        form);
  return parse_json(found->second, json_quoted(field));
}

std::int64_t place_in(const Json& value, const char* name, const std::string& field) {
  const bool whole = value.is_number_integer() && value >= 0 && value < (std::int64_t{1} << 40);
  check(whole, "{}: \"{}\" is {}: expected a place in the text, in code points from 0", json_quoted(field), name,
        to_text(value).substr(0, 40));
  return value;
}

std::string_view part_of(const Document& document, std::int64_t begin, std::int64_t end) {
  return code_point_range(document.text, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
}

evaluate::TypedSpan entity_of(const Document& document, const Json& value, const std::string& field) {
  const auto has = [&](const char* name) { return value.is_object() && value.contains(name); };
  check(has("start") && has("end") && has("label") && value["label"].is_string(),
        R"({}: expected {{"start": 0, "end": 12, "label": "PER"}}, got {})", json_quoted(field),
        to_text(value).substr(0, 60));
  const evaluate::TypedSpan entity{value["label"].get<std::string>(), place_in(value["start"], "start", field),
                                   place_in(value["end"], "end", field)};
  const auto length = static_cast<std::int64_t>(code_points(document.text));
  check(entity.begin < entity.end && entity.end <= length,
        "{}: an entity from {} to {}: expected some of the text, which has {} code points", json_quoted(field),
        entity.begin, entity.end, length);
  const std::string& label = entity.type;
  check(!label.empty() && label != "O" && !label.starts_with("B-") && !label.starts_with("I-"),
        "{}: the label is {}: give the kind of entity alone; O, B- and I- are made from where it stands",
        json_quoted(field), json_quoted(label));
  const std::string_view there = part_of(document, entity.begin, entity.end);
  check(!value.contains("text") || value["text"] == there,
        "{}: an entity from {} to {} is said to be {}, and {} is there", json_quoted(field), entity.begin, entity.end,
        to_text(value.value("text", Json())).substr(0, 60), beginning_of(there));
  return entity;
}

KnownAnswer answer_of(const Document& document, const Json& text, const Json& start, const std::string& field) {
  check(text.is_string() && text != "", "{}: an answer's text is {}: expected a part of the text; [] is no answer",
        json_quoted(field), to_text(text).substr(0, 40));
  KnownAnswer answer{text, place_in(start, "start", field), 0};
  answer.end = answer.begin + static_cast<std::int64_t>(code_points(answer.text));
  const std::string_view there = part_of(document, answer.begin, answer.end);
  check(answer.text == there, "{}: the answer {} should begin at code point {}, and {} is there", json_quoted(field),
        beginning_of(answer.text), answer.begin, beginning_of(there));
  return answer;
}

const Json* start_of(const Json& value) {
  for (const char* name : {"start", "answer_start"})
    if (value.contains(name)) return &value[name];
  return nullptr;
}

}  // namespace

std::vector<evaluate::TypedSpan> marked_entities(const Document& document, const std::string& field) {
  const Json list = value_of(document, field, R"([{"start": 0, "end": 12, "label": "PER"}])");
  check(list.is_array(), "{}: expected a list of entities, got {}", json_quoted(field), to_text(list).substr(0, 40));
  std::vector<evaluate::TypedSpan> entities;
  for (const Json& value : list) entities.push_back(entity_of(document, value, field));
  std::ranges::sort(entities, {}, [](const evaluate::TypedSpan& e) { return e.begin; });
  for (std::size_t i = 1; i < entities.size(); ++i)
    check(entities[i - 1].end <= entities[i].begin,
          "{}: the entities {} to {} ({}) and {} to {} ({}) overlap: a token has one label: keep one of them",
          json_quoted(field), entities[i - 1].begin, entities[i - 1].end, entities[i - 1].type, entities[i].begin,
          entities[i].end, entities[i].type);
  return entities;
}

std::vector<KnownAnswer> known_answers(const Document& document, const std::string& field) {
  const char* form = R"([{"text": "London", "start": 17}])";
  const Json value = value_of(document, field, form);
  std::vector<KnownAnswer> answers;
  if (value.is_array()) {
    for (const Json& one : value) {
      const Json* start = one.is_object() && one.contains("text") ? start_of(one) : nullptr;
      check(start, "{}: expected {}, got {}", json_quoted(field), form, to_text(value).substr(0, 60));
      answers.push_back(answer_of(document, one["text"], *start, field));
    }
    return answers;
  }
  const Json* starts = value.is_object() && value.contains("text") ? start_of(value) : nullptr;
  const bool lists = starts && starts->is_array() && value["text"].is_array() && value["text"].size() == starts->size();
  check(lists, "{}: expected {}, got {}", json_quoted(field), form, to_text(value).substr(0, 60));
  for (std::size_t i = 0; i < starts->size(); ++i)
    answers.push_back(answer_of(document, value["text"][i], (*starts)[i], field));
  return answers;
}

}  // namespace attune
