#include <algorithm>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/views.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

Value no_item(Context& context, const Value& value, const Value& key) {
  if (key.text()) return no_attribute(value, key.text()->bytes);
  return Value::undefined(fmt::format("{} has no element {}", described_type(value), repr(key, context)));
}

Value unsafe(const Value& value, std::string_view name) {
  return Value::undefined(
      fmt::format("access to attribute {} of '{}' object is unsafe.", repr(name), type_name(value)));
}

/// What every object of Python has: nothing that a template is to see.
bool is_internal(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

bool changes(const Value& value, std::string_view name) {
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (value.dict()) return among({"clear", "pop", "popitem", "setdefault", "update"});
  return value.list() && among({"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
}

/// The place that an index means, counted from the end below 0.
std::optional<Integer> place_of(Integer index, Integer length) {
  if (index < 0) index += length;
  if (index < 0 || index >= length) return {};
  return index;
}

std::optional<Value> by_place(Context& context, const Value& value, const Value& key) {
  const auto index = key.whole();
  if (!index || !(value.text() || value.items() || (value.object() && value.object()->has_items()))) return {};
  const auto place = place_of(*index, length_of(value));
  if (!place) return {};
  if (value.items()) return (*value.items())[static_cast<std::size_t>(*place)];
  if (value.object()) return value.object()->item(*place);
  const Text& text = *value.text();
  if (!text.ascii()) context.step(text.bytes.size() / 64);
  return context.text(pick(text.bytes, {.first = static_cast<long>(*place), .step = 1, .count = 1}), text.markup);
}

long bound(const Value& value, long otherwise) {
  if (value.is_none()) return otherwise;
  check_defined(value);
  check(value.whole().has_value(), "slice indices must be integers or None or have an __index__ method");
  return as_place(value);
}

/// As Python's slice.indices().
Range range_of(const Slice& slice, long length) {
  const long step = bound(slice.step, 1);
  check(step != 0, "slice step cannot be zero");
  const auto clamped = [&](const Value& value, long otherwise) {
    long at = bound(value, otherwise);
    if (!value.is_none() && at < 0) at += length;
    return step > 0 ? std::clamp(at, 0L, length) : std::clamp(at, -1L, length - 1);
  };
  const long first = clamped(slice.first, step > 0 ? 0 : length - 1), end = clamped(slice.end, step > 0 ? length : -1);
  const long way = step > 0 ? end - first : first - end, stride = step > 0 ? step : -step;
  return {.first = first, .step = step, .count = way <= 0 ? 0 : (way - 1) / stride + 1};
}

}  // namespace

Value no_attribute(const Value& value, std::string_view name) {
  return Value::undefined(fmt::format("'{}' has no attribute {}", described_type(value), repr(name)));
}

std::optional<Value> own_attribute(Context& context, const Value& value, std::string_view name) {
  if (value.object()) return value.object()->attribute(context, name);
  if (is_internal(name) || changes(value, name)) return unsafe(value, name);
  Method method = value.text()    ? find_text_method(name)
                  : value.dict()  ? find_dict_method(name)
                  : value.items() ? find_sequence_method(name)
                                  : nullptr;
  if (!method || (value.tuple() && name == "copy")) return {};
  return Value::object(std::make_shared<Function>(
      std::string(name), [value, method](Context& c, const Call& call) { return method(c, value, call); },
      1 + value.depth()));
}

Value get_attribute(Context& context, const Value& value, std::string_view name) {
  check_defined(value);
  if (auto found = own_attribute(context, value, name)) return *found;
  if (value.dict())
    if (const Value* item = value.dict()->find(name)) return *item;
  return no_attribute(value, name);
}

Value get_item(Context& context, const Value& value, const Value& key) {
  check_defined(value);
  if (value.dict()) {
    const bool can_be_key = !key.list() && !key.dict();
    if (const Value* item = can_be_key ? value.dict()->find(key) : nullptr) return *item;
  } else if (auto found = by_place(context, value, key)) {
    return *found;
  }
  if (key.text())
    if (auto found = own_attribute(context, value, key.text()->bytes)) return *found;
  return no_item(context, value, key);
}

Value get_slice(Context& context, const Value& value, const Slice& slice) {
  check_defined(value);
  check(!value.dict(), "unhashable type: 'slice'");
  const auto* whole_range = value.object_of<WholeRange>();
  check(value.text() || value.items() || whole_range, "'{}' object is not subscriptable", type_name(value));
  const Range range = range_of(slice, static_cast<long>(length_of(value)));
  if (whole_range) return Value::object(whole_range->part(range.first, range.step, range.count));
  if (const Text* text = value.text()) {
    const std::uint64_t most = text->ascii() ? static_cast<std::uint64_t>(range.count) : text->bytes.size();
    context.make(range.step == 1 ? most : 4 * text->bytes.size());
    return Value::text(pick(text->bytes, range), text->markup);
  }
  Items items;
  context.make(static_cast<std::uint64_t>(range.count), sizeof(Value));
  items.reserve(static_cast<std::size_t>(range.count));
  for (long i = 0, at = range.first; i < range.count; ++i, at += range.step)
    items.push_back((*value.items())[static_cast<std::size_t>(at)]);
  return value.list() ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

}  // namespace attune::jinja
