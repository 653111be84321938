#include "attune/text/json_view.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace attune {

namespace dom = simdjson::dom;

namespace {

static_assert(sizeof(dom::element) == 16 && std::is_trivially_copyable_v<dom::element>);

dom::element unpack(const std::array<std::uint64_t, 2>& packed) {
  dom::element element;
  std::memcpy(static_cast<void*>(&element), packed.data(), sizeof element);
  return element;
}

std::array<std::uint64_t, 2> pack(const dom::element& element) {
  std::array<std::uint64_t, 2> packed;
  std::memcpy(packed.data(), &element, sizeof element);
  return packed;
}

const char* kind_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

struct JsonView::Document {
  dom::parser parser;
  std::string source;
};

JsonView JsonView::parse(std::string_view text, const std::string& source) {
  auto document = std::make_shared<Document>();
  document->source = source;
  dom::element root;
  const auto failure = document->parser.parse(text.data(), text.size(), true).get(root);
  check(!failure, "{}: not valid JSON: {}", source, simdjson::error_message(failure));
  const Element packed = pack(root);
  return JsonView(std::move(document), packed, "");
}

const std::string& JsonView::source() const { return document_->source; }

JsonView JsonView::member(std::string_view key, Element element) const {
  return JsonView(document_, element, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

bool JsonView::is_null() const { return unpack(element_).is_null(); }
bool JsonView::is_string() const { return unpack(element_).is_string(); }
bool JsonView::is_array() const { return unpack(element_).is_array(); }
bool JsonView::is_object() const { return unpack(element_).is_object(); }

std::string_view JsonView::string() const {
  std::string_view value;
  const dom::element element = unpack(element_);
  if (element.get_string().get(value)) reject("expected a string, found {}", kind_of(element));
  return value;
}

std::int64_t JsonView::integer(std::int64_t at_least, std::int64_t at_most) const {
  std::int64_t value;
  const dom::element element = unpack(element_);
  if (element.get_int64().get(value)) reject("expected a whole number, found {}", kind_of(element));
  if (value < at_least || value > at_most) reject("is {}: expected {} to {}", value, at_least, at_most);
  return value;
}

bool JsonView::flag() const {
  bool value;
  const dom::element element = unpack(element_);
  if (element.get_bool().get(value)) reject("expected true or false, found {}", kind_of(element));
  return value;
}

bool JsonView::has_key(std::string_view key) const {
  dom::object object;
  const dom::element element = unpack(element_);
  if (element.get_object().get(object)) reject("expected an object, found {}", kind_of(element));
  dom::element found;
  return !object.at_key(key).get(found);
}

bool JsonView::has(std::string_view key) const { return has_key(key) && !at(key).is_null(); }

JsonView JsonView::at(std::string_view key) const {
  dom::object object;
  const dom::element element = unpack(element_);
  if (element.get_object().get(object)) reject("expected an object, found {}", kind_of(element));
  dom::element found;
  if (object.at_key(key).get(found)) reject("\"{}\" is missing", key);
  return member(key, pack(found));
}

std::string JsonView::string_or(std::string_view key, std::string otherwise) const {
  return has(key) ? string(key) : otherwise;
}

std::optional<std::string> JsonView::optional_string(std::string_view key) const {
  return has(key) ? std::optional<std::string>(string(key)) : std::nullopt;
}

bool JsonView::flag_or(std::string_view key, bool otherwise) const { return has(key) ? at(key).flag() : otherwise; }

void JsonView::only(std::initializer_list<std::string_view> keys) const {
  std::vector<std::string_view> seen;
  each_member([&](std::string_view key, const JsonView&) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      std::vector<std::string> known(keys.begin(), keys.end());
      const std::string near = nearest_name(std::string(key), known);
      reject("has \"{}\", which Attune does not know{}", key,
             near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) reject("has \"{}\" twice", key);
    seen.push_back(key);
  });
}

void JsonView::each_element(const std::function<void(const JsonView&)>& visit) const {
  dom::array array;
  const dom::element element = unpack(element_);
  if (element.get_array().get(array)) reject("expected a list, found {}", kind_of(element));
  std::size_t index = 0;
  for (const dom::element item : array) visit(JsonView(document_, pack(item), fmt::format("{}[{}]", path_, index++)));
}

void JsonView::each_member(const std::function<void(std::string_view, const JsonView&)>& visit) const {
  dom::object object;
  const dom::element element = unpack(element_);
  if (element.get_object().get(object)) reject("expected an object, found {}", kind_of(element));
  for (const auto field : object) visit(field.key, member(field.key, pack(field.value)));
}

void JsonView::each_id(const std::function<void(std::string_view, std::int64_t)>& visit) const {
  dom::object object;
  const dom::element element = unpack(element_);
  if (element.get_object().get(object)) reject("expected an object, found {}", kind_of(element));
  for (const auto field : object) {
    std::int64_t id;
    if (field.value.get_int64().get(id) || id < 0)
      reject("the id of \"{}\" is {}: expected a whole number from 0", field.key, simdjson::minify(field.value));
    visit(field.key, id);
  }
}

void JsonView::each_pair(const std::function<void(std::string_view, std::string_view)>& visit) const {
  dom::array array;
  const dom::element element = unpack(element_);
  if (element.get_array().get(array)) reject("expected a list, found {}", kind_of(element));
  std::size_t index = 0;
  for (const dom::element item : array) {
    const std::size_t at = index++;
    std::string_view first, second;
    dom::array both;
    if (!item.get_string().get(first)) {
      const std::size_t space = first.find(' ');
      if (space == std::string_view::npos || first.find(' ', space + 1) != std::string_view::npos)
        reject("[{}] is \"{}\": expected two tokens with one space between", at, first);
      visit(first.substr(0, space), first.substr(space + 1));
    } else {
      if (item.get_array().get(both) || both.size() != 2 || both.at(0).get_string().get(first) ||
          both.at(1).get_string().get(second))
        reject("[{}] is {}: expected [\"a\", \"b\"] or \"a b\"", at, kind_of(item));
      visit(first, second);
    }
  }
}

void JsonView::each_score(const std::function<void(std::string_view, double)>& visit) const {
  dom::array array;
  const dom::element element = unpack(element_);
  if (element.get_array().get(array)) reject("expected a list, found {}", kind_of(element));
  std::size_t index = 0;
  for (const dom::element item : array) {
    const std::size_t at = index++;
    std::string_view token;
    double score;
    dom::array both;
    if (item.get_array().get(both) || both.size() != 2 || both.at(0).get_string().get(token) ||
        both.at(1).get_double().get(score))
      reject("[{}] is {}: expected [\"token\", score]", at, kind_of(item));
    visit(token, score);
  }
}

std::int64_t JsonView::size() const {
  const dom::element element = unpack(element_);
  dom::object object;
  dom::array array;
  if (!element.get_object().get(object)) {
    std::int64_t count = 0;  // object.size() stops at 2^24 - 1
    for ([[maybe_unused]] const auto field : object) ++count;
    return count;
  }
  if (element.get_array().get(array)) reject("expected a list or an object, found {}", kind_of(element));
  std::int64_t count = 0;
  for ([[maybe_unused]] const dom::element item : array) ++count;
  return count;
}

std::string JsonView::text() const { return simdjson::minify(unpack(element_)); }

}  // namespace attune
