#include <algorithm>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/formatting.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/text_methods.h"
#include "attune/text/template/views.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

/// Texts as they are, markup too; what else there is as it prints.
Value soft_text(Context& context, const Value& value) {
  return value.text() ? value : context.text(to_text(value, context));
}

template <std::string (*change)(std::string_view)>
Value changed(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "filter", .names = {}});
  const Value text = soft_text(context, value);
  context.step(text.text()->bytes.size() / 8);
  return context.text(change(text.text()->bytes), text.text()->markup);
}

bool begins_word(char32_t point) {
  return is_space(point) || point == '-' || point == '(' || point == '{' || point == '[' || point == '<';
}

/// Each word begins with a capital; a word begins after white space, "-" or an opening bracket.
std::string titled(std::string_view text) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t from = place;
    std::size_t end = place;
    const bool between = begins_word(next_code_point(text, place));
    for (end = place; place < text.size(); end = place)
      if (begins_word(next_code_point(text, place)) != between) break;
    std::size_t behind_first = from;
    next_code_point(text, behind_first);
    result += upper(text.substr(from, behind_first - from)) + lower(text.substr(behind_first, end - behind_first));
    place = end;
  }
  return result;
}

Value trim(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_trim", .names = {"chars"}});
  const Value text = soft_text(context, value);
  Call strip_call;
  if (a.get(0)) strip_call.positional.push_back(a.at(0));
  return find_text_method("strip")(context, text, strip_call);
}

Value replace(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_replace", .names = {"old", "new", "count"}, .required = 2});
  const auto plain = [&](const Value& v) { return context.text(to_text(v, context)); };
  const Value* count = a.unless_none(2);
  return replaced(context, plain(value), plain(a.at(0)), plain(a.at(1)), count ? as_place(*count) : -1);
}

Value string(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "soft_str", .names = {}});
  return soft_text(context, value);
}

Value safe(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_mark_safe", .names = {}});
  return context.text(to_text(value, context), true);
}

Value escape(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "escape", .names = {}});
  return escaped(context, value);
}

Value force_escape(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_forceescape", .names = {}});
  return escaped(context, context.text(to_text(value, context)));
}

Value center(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_center", .names = {"width"}});
  const Call width{.positional = {a.get(0) ? a.at(0) : Value::whole(80)}};
  return find_text_method("center")(context, soft_text(context, value), width);
}

Value format(Context& context, const Value& value, const Call& call) {
  check(call.positional.empty() || call.named.empty(),
        "can't handle positional and keyword arguments at the same time");
  if (call.named.empty()) return formatted(context, soft_text(context, value), Value::tuple(call.positional));
  Dict named;
  for (const auto& [name, one] : call.named) named.set(Value::text(name), one);
  return formatted(context, soft_text(context, value), Value::dict(std::move(named)));
}

Value indent(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_indent", .names = {"width", "first", "blank"}});
  check_defined(value);
  check(value.text() != nullptr, "unsupported operand type(s) for +=: '{}' and 'str'", type_name(value));
  std::string by;
  if (a.get(0) && a.at(0).text()) {
    by = a.at(0).text()->bytes;
  } else {
    const long width = std::max(0L, a.get(0) ? as_place(a.at(0)) : 4);
    context.make(static_cast<std::uint64_t>(width));
    by.assign(static_cast<std::size_t>(width), ' ');
  }
  const std::string whole = value.text()->bytes + "\n";
  const std::vector<std::string_view> lines = split_lines(whole, false);
  context.make(lines.size(), by.size() + 1);
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result += "\n";
    const bool moved = i == 0 ? a.flag(1, false) : a.flag(2, false) || !lines[i].empty();
    if (moved) result += by;
    result += lines[i];
  }
  return context.text(std::move(result), value.text()->markup);
}

Value truncate(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_truncate", .names = {"length", "killwords", "end", "leeway"}});
  const long length = a.get(0) ? as_place(a.at(0)) : 255, leeway = a.unless_none(3) ? as_place(a.at(3)) : 5;
  const Value end = a.get(2) ? a.at(2) : Value::text("...");
  const auto end_size = static_cast<long>(as_text(end, "do_truncate").points);
  check(length >= end_size, "expected length >= {}, got {}", end_size, length);
  check(leeway >= 0, "expected leeway >= 0, got {}", leeway);
  if (length_of(value) <= length + leeway) return value;
  Value cut = get_slice(context, value, {.first = Value(), .end = Value::whole(length - end_size), .step = Value()});
  const Text& text = as_text(cut, "do_truncate");
  std::string kept = text.bytes;
  if (!a.flag(1, false)) kept.resize(std::min(kept.size(), kept.rfind(' ')));
  return context.text(kept + end.text()->bytes, text.markup);
}

Value word_count(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "do_wordcount", .names = {}});
  const Value text = soft_text(context, value);
  context.step(text.text()->bytes.size() / 8);
  Integer words = 0;
  bool inside = false;
  for (std::size_t place = 0; place < text.text()->bytes.size();) {
    const bool word = is_word(next_code_point(text.text()->bytes, place));
    words += word && !inside ? 1 : 0;
    inside = word;
  }
  return Value::whole(words);
}

}  // namespace

const Filters& text_filters() {
  static const Filters filters = {
      {"capitalize", changed<capitalize>},
      {"center", center},
      {"e", escape},
      {"escape", escape},
      {"forceescape", force_escape},
      {"format", format},
      {"indent", indent},
      {"lower", changed<lower>},
      {"replace", replace},
      {"safe", safe},
      {"string", string},
      {"title", changed<titled>},
      {"tojson", to_json},
      {"trim", trim},
      {"truncate", truncate},
      {"upper", changed<upper>},
      {"wordcount", word_count},
  };
  return filters;
}

}  // namespace attune::jinja
