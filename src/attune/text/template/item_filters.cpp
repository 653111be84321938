#include <algorithm>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

Value length(Context&, const Value& value, const Call& call) {
  Arguments(call, {.function = "len", .names = {}});
  return Value::whole(length_of(value));
}

Value list(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_list", .names = {}});
  return Value::list(items_of(context, value));
}

Value first(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_first", .names = {}});
  Value item;
  return iterate(value)->next(context, item) ? item : Value::undefined("No first item, sequence was empty.");
}

Value last(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_last", .names = {}});
  if (value.text() && value.text()->points > 0) return get_item(context, value, Value::whole(-1));
  const Value none = Value::undefined("No last item, sequence was empty.");
  if (value.text() || value.undefined()) return none;
  std::shared_ptr<Iterator> all = reversed(value);
  check(all != nullptr, "'{}' object is not reversible", type_name(value));
  Value item;
  return all->next(context, item) ? item : none;
}

Value reverse(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_reverse", .names = {}});
  if (value.text()) return get_slice(context, value, {.first = Value(), .end = Value(), .step = Value::whole(-1)});
  if (std::shared_ptr<Iterator> all = reversed(value)) return Value::object(all);
  check(value.undefined() || (value.object() && value.object()->iterate()), "argument must be iterable");
  Items items = items_of(context, value);
  std::reverse(items.begin(), items.end());
  return Value::list(std::move(items));
}

Value join(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_join", .names = {"d", "attribute"}});
  const std::string separator = a.get(0) ? to_text(a.at(0), context) : "";
  std::shared_ptr<Iterator> all = iterate(value);
  std::string result;
  bool first_one = true;
  for (Value item; all->next(context, item); first_one = false) {
    if (a.unless_none(1)) item = lookup_path(context, item, a.at(1));
    context.make(separator.size());
    if (!first_one) result += separator;
    result += to_text(item, context);
  }
  return context.text(std::move(result));
}

Value total(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_sum", .names = {"attribute", "start"}});
  Value sum = a.get(1) ? a.at(1) : Value::whole(0);
  check(!sum.text(), "sum() can't sum strings [use ''.join(seq) instead]");
  std::shared_ptr<Iterator> all = iterate(value);
  for (Value item; all->next(context, item);)
    sum = apply(context, Operator::add, sum, a.unless_none(0) ? lookup_path(context, item, a.at(0)) : item);
  return sum;
}

/// The values by which items are ordered: of "a,b" two of them.
struct Keyed {
  Value key, item;
};
std::vector<Keyed> keyed(Context& context, const Value& value, const Value& attribute, bool case_sensitive) {
  std::vector<Value> paths;
  if (attribute.text()) {
    std::string_view rest = attribute.text()->bytes;
    for (std::size_t comma = 0; comma != std::string_view::npos;
         rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1)) {
      comma = rest.find(',');
      paths.push_back(Value::text(std::string(rest.substr(0, comma))));
    }
  } else {
    paths.push_back(attribute);
  }
  std::vector<Keyed> all;
  for (Value& item : items_of(context, value)) {
    Items keys;
    for (const Value& path : paths)
      keys.push_back(ignoring_case(context, lookup_path(context, item, path), case_sensitive));
    all.push_back({context.list(std::move(keys)), std::move(item)});
  }
  return all;
}

void sort_keyed(Context& context, std::vector<Keyed>& all, bool descending) {
  std::stable_sort(all.begin(), all.end(), [&](const Keyed& a, const Keyed& b) {
    return descending ? less(context, b.key, a.key) : less(context, a.key, b.key);
  });
}

Value sort(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_sort", .names = {"reverse", "case_sensitive", "attribute"}});
  std::vector<Keyed> all = keyed(context, value, a.get(2) ? a.at(2) : Value(), a.flag(1, false));
  sort_keyed(context, all, a.flag(0, false));
  Items items;
  for (Keyed& one : all) items.push_back(std::move(one.item));
  return context.list(std::move(items));
}

Value sort_dict(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_dictsort", .names = {"case_sensitive", "by", "reverse"}});
  const std::string by = a.get(1) ? a.text(1) : "key";
  check(by == "key" || by == "value", "You can only sort by either \"key\" or \"value\"");
  check_defined(value);
  check(value.dict() != nullptr, "'{}' object has no attribute 'items'", type_name(value));
  std::vector<Keyed> all;
  for (const auto& [key, held] : value.dict()->entries())
    all.push_back({ignoring_case(context, by == "key" ? key : held, a.flag(0, false)), context.tuple({key, held})});
  sort_keyed(context, all, a.flag(2, false));
  Items items;
  for (Keyed& one : all) items.push_back(std::move(one.item));
  return context.list(std::move(items));
}

template <Comparison better>
Value extreme(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_min", .names = {"case_sensitive", "attribute"}});
  std::shared_ptr<Iterator> all = iterate(value);
  Value best, best_key;
  bool none = true;
  for (Value item; all->next(context, item); none = false) {
    const Value path = a.get(1) ? a.at(1) : Value();
    const Value key = ignoring_case(context, lookup_path(context, item, path), a.flag(0, false));
    if (!none && !compare(context, better, key, best_key)) continue;
    best = item;
    best_key = key;
  }
  return none ? Value::undefined("No aggregated item, sequence was empty.") : best;
}

/// A group of "groupby": a tuple of two whose parts have names.
class Group : public Object {
 public:
  Group(Value key, const Value& list) : Object(1 + std::max(key.depth(), list.depth())), parts_{std::move(key), list} {}
  std::string type_name() const override { return "_GroupTuple"; }
  std::string repr(Meter& meter) const override { return attune::jinja::repr(Value::tuple(parts_), meter); }
  std::optional<Value> attribute(Context&, std::string_view name) override {
    if (name == "grouper") return parts_[0];
    if (name == "list") return parts_[1];
    return {};
  }
  std::optional<Integer> length() const override { return 2; }
  bool has_items() const override { return true; }
  std::optional<Value> item(Integer place) const override { return parts_[static_cast<std::size_t>(place)]; }
  std::shared_ptr<Iterator> iterate() override { return attune::jinja::iterate(Value::tuple(parts_)); }

 private:
  Items parts_;
};

Value group_by(Context& context, const Value& value, const Call& call) {
  const Arguments a(call,
                    {.function = "do_groupby", .names = {"attribute", "default", "case_sensitive"}, .required = 1});
  const bool case_sensitive = a.flag(2, false);
  const auto real_key = [&](const Value& item) {
    Value found = lookup_path(context, item, a.at(0));
    return found.undefined() && a.unless_none(1) ? a.at(1) : found;
  };
  std::vector<Keyed> all;
  for (Value& item : items_of(context, value))
    all.push_back({ignoring_case(context, real_key(item), case_sensitive), std::move(item)});
  sort_keyed(context, all, false);
  Items groups;
  for (std::size_t i = 0; i < all.size();) {
    Items members;
    const std::size_t begin = i;
    for (; i < all.size() && equal(context, all[begin].key, all[i].key); ++i) members.push_back(all[i].item);
    if (i == begin) members.push_back(all[i++].item);  // what does not equal itself: nan
    groups.push_back(
        Value::object(std::make_shared<Group>(real_key(all[begin].item), context.list(std::move(members)))));
  }
  return context.list(std::move(groups));
}

Value unique(Context&, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_unique", .names = {"case_sensitive", "attribute"}});
  const Value path = a.get(1) ? a.at(1) : Value();
  const bool case_sensitive = a.flag(0, false);
  auto seen = std::make_shared<Dict>();
  return generator(value, [all = iterate(value), seen, path, case_sensitive](Context& c, Value& to) {
    while (all->next(c, to)) {
      const Value key = ignoring_case(c, lookup_path(c, to, path), case_sensitive);
      if (seen->find(key)) continue;
      c.make(sizeof(Value) * 2);
      seen->set(key, Value());
      return true;
    }
    return false;
  });
}

/// Lists of `size`, the last filled up.
Value batch(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_batch", .names = {"linecount", "fill_with"}, .required = 1});
  const long size = as_place(a.at(0));
  Items lines, line;
  for (Value& item : items_of(context, value)) {
    if (static_cast<long>(line.size()) == size) lines.push_back(context.list(std::exchange(line, {})));
    line.push_back(std::move(item));
  }
  if (!line.empty()) {
    const long missing = size - static_cast<long>(line.size());
    if (a.unless_none(1) && missing > 0) {
      context.make(static_cast<std::uint64_t>(missing), sizeof(Value));
      line.insert(line.end(), static_cast<std::size_t>(missing), a.at(1));
    }
    lines.push_back(context.list(std::move(line)));
  }
  const Value made = context.list(std::move(lines));
  return generator(made, [all = iterate(made)](Context& c, Value& to) { return all->next(c, to); });
}

/// As many lists, the first ones longer by one where that is needed.
Value slice(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_slice", .names = {"slices", "fill_with"}, .required = 1});
  const Items items = items_of(context, value);
  const long slices = as_place(a.at(0)), count = static_cast<long>(items.size());
  check(slices != 0, "integer division or modulo by zero");
  context.make(static_cast<std::uint64_t>(std::max(0L, slices)), sizeof(Value));
  Items lists;
  for (long i = 0, at = 0; i < slices; ++i) {
    const bool longer = i < count % slices;
    const long end = at + count / slices + (longer ? 1 : 0);
    Items part(items.begin() + at, items.begin() + end);
    if (a.unless_none(1) && !longer) part.push_back(a.at(1));
    lists.push_back(context.list(std::move(part)));
    at = end;
  }
  const Value made = context.list(std::move(lists));
  return generator(made, [all = iterate(made)](Context& c, Value& to) { return all->next(c, to); });
}

Value pairs(Context&, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_items", .names = {}});
  if (value.undefined()) return generator(Value(), [](Context&, Value&) { return false; });
  return generator(value, [value, all = std::shared_ptr<Iterator>()](Context& c, Value& to) mutable {
    check(value.dict() != nullptr, "Can only get item pairs from a mapping.");
    if (!all) all = std::make_shared<DictView>(value, DictView::Kind::items)->iterate();
    return all->next(c, to);
  });
}

}  // namespace

const Filters& item_filters() {
  static const Filters filters = {
      {"batch", batch},
      {"count", length},
      {"dictsort", sort_dict},
      {"first", first},
      {"groupby", group_by},
      {"items", pairs},
      {"join", join},
      {"last", last},
      {"length", length},
      {"list", list},
      {"max", extreme<Comparison::greater>},
      {"min", extreme<Comparison::less>},
      {"reverse", reverse},
      {"slice", slice},
      {"sort", sort},
      {"sum", total},
      {"unique", unique},
  };
  return filters;
}

}  // namespace attune::jinja
