#include <algorithm>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/literals.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

Value otherwise(Context&, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_default", .names = {"default_value", "boolean"}});
  const bool replaced = value.undefined() || (a.flag(1, false) && !is_true(value));
  return !replaced ? value : a.get(0) ? a.at(0) : Value::text("");
}

Value attribute(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_attr", .names = {"name"}, .required = 1});
  check_defined(value);
  auto found = own_attribute(context, value, a.text(0));
  return found ? *found : no_attribute(value, a.text(0));
}

/// What is done with each item, and with the arguments that came with it.
using Change = std::function<Value(Context&, const Value&)>;

Change change_of(Call call) {
  const auto named = [&](std::string_view name) {
    return std::find_if(call.named.begin(), call.named.end(), [&](const auto& one) { return one.first == name; });
  };
  if (call.positional.empty() && named("attribute") != call.named.end()) {
    const Value path = named("attribute")->second;
    const Value fallback = named("default") != call.named.end() ? named("default")->second : Value();
    for (const auto& [name, value] : call.named)
      check(name == "attribute" || name == "default", "Unexpected keyword argument {}", repr(name));
    return [path, fallback](Context& context, const Value& item) {
      Value found = lookup_path(context, item, path);
      return found.undefined() && !fallback.is_none() ? fallback : found;
    };
  }
  check(!call.positional.empty(), "map requires a filter argument");
  check_defined(call.positional[0]);
  const std::string name = as_text(call.positional[0], "map").bytes;
  const Filter filter = find_filter(name);
  check(filter != nullptr, "No filter named {}.", repr(name));
  call.positional.erase(call.positional.begin());
  return [filter, call](Context& context, const Value& item) { return filter(context, item, call); };
}

/// The depth of values that a lazy filter holds.
Value held_by(Context& context, const Value& value, const Call& call) {
  Items all = call.positional;
  for (const auto& [name, one] : call.named) all.push_back(one);
  all.push_back(value);
  return context.list(std::move(all));
}

Value map(Context& context, const Value& value, const Call& call) {
  return generator(held_by(context, value, call),
                   [value, call, change = Change(), all = std::shared_ptr<Iterator>()](Context& c, Value& to) mutable {
                     if (!all && !is_true(value)) return false;
                     if (!all) change = change_of(call), all = iterate(value);
                     Value item;
                     if (!all->next(c, item)) return false;
                     to = change(c, item);
                     return true;
                   });
}

using Choice = std::function<bool(Context&, const Value&)>;

Choice choice_of(Call call, bool by_attribute) {
  Value path;
  if (by_attribute) {
    check(!call.positional.empty(), "Missing parameter for attribute name");
    path = call.positional[0];
    call.positional.erase(call.positional.begin());
  }
  const auto part = [path](Context& context, const Value& item) {
    return path.is_none() ? item : lookup_path(context, item, path);
  };
  if (call.positional.empty())
    return [part](Context& context, const Value& item) { return is_true(part(context, item)); };
  check_defined(call.positional[0]);
  const std::string name = as_text(call.positional[0], "select").bytes;
  const Test test = find_test(name);
  check(test != nullptr, "No test named {}.", repr(name));
  call.positional.erase(call.positional.begin());
  return [part, test, call](Context& context, const Value& item) { return test(context, part(context, item), call); };
}

template <bool wanted, bool by_attribute>
Value choose(Context& context, const Value& value, const Call& call) {
  return generator(held_by(context, value, call),
                   [value, call, choice = Choice(), all = std::shared_ptr<Iterator>()](Context& c, Value& to) mutable {
                     if (!all && !is_true(value)) return false;
                     if (!all) choice = choice_of(call, by_attribute), all = iterate(value);
                     while (all->next(c, to))
                       if (choice(c, to) == wanted) return true;
                     return false;
                   });
}

}  // namespace

Value lookup_path(Context& context, const Value& item, const Value& path) {
  if (path.is_none()) return item;
  if (!path.text()) return get_item(context, item, path);
  Value found = item;
  for (std::string_view part : split_at(path.text()->bytes, ".", -1, false)) {
    const bool number =
        !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    const auto place = number ? parse_whole(part, 10) : std::nullopt;
    found = get_item(context, found, place ? Value::whole(*place) : context.text(std::string(part)));
  }
  return found;
}

Value ignoring_case(Context& context, const Value& value, bool case_sensitive) {
  return value.text() && !case_sensitive ? context.text(lower(value.text()->bytes)) : value;
}

const Filters& mapping_filters() {
  static const Filters filters = {
      {"attr", attribute},
      {"d", otherwise},
      {"default", otherwise},
      {"map", map},
      {"reject", choose<false, false>},
      {"rejectattr", choose<false, true>},
      {"select", choose<true, false>},
      {"selectattr", choose<true, true>},
  };
  return filters;
}

Filter find_filter(std::string_view name) {
  for (const Filters* filters : {&text_filters(), &number_filters(), &item_filters(), &mapping_filters()})
    if (const auto found = filters->find(name); found != filters->end()) return found->second;
  return nullptr;
}

}  // namespace attune::jinja
