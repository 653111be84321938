#include <algorithm>
#include <map>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

template <DictView::Kind kind>
Value view(Context&, const Value& self, const Call& call) {
  Arguments(call, {.function = "dict method", .names = {}});
  return Value::object(std::make_shared<DictView>(self, kind));
}

Value get(Context&, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "get", .names = {"/key", "/default"}, .required = 1});
  const Value* found = self.dict()->find(a.at(0));
  return found ? *found : a.get(1) ? a.at(1) : Value();
}

Value copy(Context&, const Value& self, const Call& call) {
  Arguments(call, {.function = "copy", .names = {}});
  return self;  // nothing changes either
}

Value from_keys(Context& context, const Value&, const Call& call) {
  const Arguments a(call, {.function = "fromkeys", .names = {"/iterable", "/value"}, .required = 1});
  Dict dict;
  std::shared_ptr<Iterator> keys = iterate(a.at(0));
  for (Value key; keys->next(context, key);) {
    context.make(2 * sizeof(Value));
    dict.set(key, a.get(1) ? a.at(1) : Value());
  }
  return Value::dict(std::move(dict));
}

Value count(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "count", .names = {"/value"}, .required = 1});
  Integer number = 0;
  for (const Value& item : *self.items()) number += item.same_as(a.at(0)) || equal(context, item, a.at(0)) ? 1 : 0;
  return Value::whole(number);
}

Value index(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "index", .names = {"/value", "/start", "/stop"}, .required = 1});
  const auto length = static_cast<long>(self.items()->size());
  const auto bound = [&](std::size_t place, long otherwise) {
    const long at = a.get(place) ? as_place(a.at(place)) : otherwise;
    return std::clamp(at < 0 ? at + length : at, 0L, length);
  };
  for (long i = bound(1, 0), end = bound(2, length); i < end; ++i) {
    const Value& item = (*self.items())[static_cast<std::size_t>(i)];
    if (item.same_as(a.at(0)) || equal(context, item, a.at(0))) return Value::whole(i);
  }
  if (self.tuple()) fail("tuple.index(x): x not in tuple");
  fail("{} is not in list", repr(a.at(0), context));
}

Method find(const std::map<std::string_view, Method>& methods, std::string_view name) {
  const auto found = methods.find(name);
  return found == methods.end() ? nullptr : found->second;
}

}  // namespace

Method find_dict_method(std::string_view name) {
  static const std::map<std::string_view, Method> methods = {
      {"copy", copy},
      {"fromkeys", from_keys},
      {"get", get},
      {"items", view<DictView::Kind::items>},
      {"keys", view<DictView::Kind::keys>},
      {"values", view<DictView::Kind::values>},
  };
  return find(methods, name);
}

Method find_sequence_method(std::string_view name) {
  static const std::map<std::string_view, Method> methods = {{"copy", copy}, {"count", count}, {"index", index}};
  return find(methods, name);
}

}  // namespace attune::jinja
