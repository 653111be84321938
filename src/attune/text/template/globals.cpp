#include "attune/text/template/globals.h"

#include <locale.h>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

/// dict(mapping or pairs, name=value, ...).
Dict make_dict(Context& context, const Call& call, std::string_view function) {
  check(call.positional.size() <= 1, "{} expected at most 1 argument, got {}", function, call.positional.size());
  Dict dict;
  const auto put = [&](const Value& key, const Value& value) {
    context.make(2 * sizeof(Value));
    dict.set(key, value);
  };
  if (!call.positional.empty() && call.positional[0].dict()) {
    for (const auto& [key, value] : call.positional[0].dict()->entries()) put(key, value);
  } else if (!call.positional.empty()) {
    std::shared_ptr<Iterator> pairs = iterate(call.positional[0]);
    std::size_t number = 0;
    for (Value pair; pairs->next(context, pair); ++number) {
      const Items items = items_of(context, pair);
      check(items.size() == 2, "dictionary update sequence element #{} has length {}; 2 is required", number,
            items.size());
      put(items[0], items[1]);
    }
  }
  for (const auto& [name, value] : call.named) put(Value::text(name), value);
  return dict;
}

class DictFunction : public Object {
 public:
  std::string type_name() const override { return "TemplateDict"; }
  bool callable() const override { return true; }
  Value call(Context& context, const Call& call) override { return Value::dict(make_dict(context, call, "dict")); }
  std::optional<Value> attribute(Context&, std::string_view name) override {
    if (name != "fromkeys") return {};
    return Value::object(std::make_shared<Function>("fromkeys", [](Context& context, const Call& call) {
      return find_dict_method("fromkeys")(context, Value(), call);
    }));
  }
};

Value make_namespace(Context& context, const Call& call) {
  const Dict dict = make_dict(context, call, "namespace");
  auto made = std::make_shared<Namespace>();
  context.keep(made);
  for (const auto& [key, value] : dict.entries())
    if (key.text()) made->set(context, key.text()->bytes, value);
  return Value::object(made);
}

Value make_range(Context&, const Call& call) {
  check(call.named.empty(), "range() takes no keyword arguments");
  check(!call.positional.empty(), "range expected at least 1 argument, got 0");
  check(call.positional.size() <= 3, "range expected at most 3 arguments, got {}", call.positional.size());
  const auto at = [&](std::size_t place) { return as_whole(call.positional[place]); };
  if (call.positional.size() == 1) return Value::object(std::make_shared<WholeRange>(0, at(0), 1));
  return Value::object(std::make_shared<WholeRange>(at(0), at(1), call.positional.size() == 3 ? at(2) : 1));
}

/// cycler(a, b, ...): one after the other, round and round.
class Cycler : public Object {
 public:
  explicit Cycler(const Value& items) : Object(1 + items.depth()), items_(*items.list()) {}
  std::string type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(Context&, std::string_view name) override {
    if (name == "current") return items_[place_];
    if (name != "next" && name != "reset") return {};
    auto self = std::static_pointer_cast<Cycler>(shared_from_this());
    const bool steps = name == "next";
    return Value::object(std::make_shared<Function>(
        std::string(name), [self, steps](Context&, const Call&) { return steps ? self->next() : self->reset(); },
        1 + depth()));
  }

 private:
  Value next() {
    const Value& current = items_[place_];
    place_ = (place_ + 1) % items_.size();
    return current;
  }
  Value reset() {
    place_ = 0;
    return {};
  }

  Items items_;
  std::size_t place_ = 0;
};

Value make_cycler(Context&, const Call& call) {
  check(!call.positional.empty(), "at least one item has to be provided");
  return Value::object(std::make_shared<Cycler>(Value::list(call.positional)));
}

/// joiner(separator): nothing when it is called first, then the separator.
Value make_joiner(Context&, const Call& call) {
  const Arguments a(call, {.function = "joiner", .names = {"sep"}});
  const Value separator = a.get(0) ? a.at(0) : Value::text(", ");
  return Value::object(std::make_shared<Function>(
      "joiner",
      [separator, used = false](Context&, const Call&) mutable {
        const bool first = !used;
        used = true;
        return first ? Value::text("") : separator;
      },
      1 + separator.depth()));
}

Value raise_exception(Context& context, const Call& call) {
  const Arguments a(call, {.function = "raise_exception", .names = {"message"}, .required = 1});
  throw Error(to_text(a.at(0), context));
}

}  // namespace

std::string Namespace::repr(Meter& meter) const {
  Meter::Level level(meter);
  std::string inner;
  for (const auto& [name, value] : attributes_) {
    inner += inner.empty() ? "" : ", ";
    inner += attune::jinja::repr(name) + ": " + attune::jinja::repr(value, meter);
  }
  return "<Namespace {" + inner + "}>";
}

std::optional<Value> Namespace::attribute(Context&, std::string_view name) {
  for (const auto& [other, value] : attributes_)
    if (other == name) return value;
  return {};
}

void Namespace::set(Context& context, const std::string& name, Value value) {
  check(!name.starts_with('_'),
        "Chat templates cannot store underscore-prefixed attributes on a namespace, but got {}. Please rename the "
        "attribute.",
        attune::jinja::repr(name));
  context.make(sizeof(Value));
  for (auto& [other, old] : attributes_) {
    if (other != name) continue;
    old = std::move(value);
    return;
  }
  attributes_.emplace_back(name, std::move(value));
}

std::string format_time(const std::string& format, const std::tm& time) {
  // What Python puts in itself: microseconds, and the zone, of which there is none.
  std::string plain;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : 0;
    if (next == 0) {
      plain += format[i];
      continue;
    }
    ++i;
    if (next == 'f') plain += "000000";
    if (next != 'f' && next != 'z' && next != 'Z') plain += {'%', next};
  }
  if (plain.empty()) return {};
  static const locale_t plain_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  std::string text(4096, '\0');
  const std::size_t size = strftime_l(text.data(), text.size(), (plain + ' ').c_str(), &time, plain_locale);
  check(size > 0, "strftime_now: the format \"{}\" gives more than {} characters", format, text.size());
  text.resize(size - 1);
  return text;
}

std::vector<std::pair<std::string, Value>> global_functions(const std::optional<std::tm>& now) {
  const auto function = [](const char* name, Function::Body body) {
    return std::pair<std::string, Value>(name, Value::object(std::make_shared<Function>(name, std::move(body))));
  };
  std::vector<std::pair<std::string, Value>> all = {
      function("range", make_range), function("namespace", make_namespace), function("cycler", make_cycler),
      function("joiner", make_joiner), function("raise_exception", raise_exception)};
  all.emplace_back("dict", Value::object(std::make_shared<DictFunction>()));
  if (now)
    all.push_back(function("strftime_now", [time = *now](Context& context, const Call& call) {
      const Arguments a(call, {.function = "strftime_now", .names = {"format"}, .required = 1});
      return context.text(format_time(a.text(0), time));
    }));
  return all;
}

}  // namespace attune::jinja
