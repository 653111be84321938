#include "attune/text/template/text_methods.h"

#include <algorithm>
#include <map>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/formatting.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/views.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

const std::string& bytes(const Value& self) { return self.text()->bytes; }
bool markup(const Value& self) { return self.text()->markup; }

void no_arguments(const Call& call, std::string_view method) {
  Arguments(call, {.function = method, .names = {}, .required = 0});
}

/// A text from another, of the same kind.
template <std::string (*change)(std::string_view)>
Value changed(Context& context, const Value& self, const Call& call) {
  no_arguments(call, "str method");
  context.step(bytes(self).size() / 8);
  return context.text(change(bytes(self)), markup(self));
}

template <Ends ends>
Value stripped(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "strip", .names = {"/chars"}});
  const Value* given = a.unless_none(0);
  check(!given || given->text(), "strip arg must be None or str");
  std::string_view characters = given ? std::string_view(given->text()->bytes) : std::string_view();
  if (given) context.step(1 + characters.size() * bytes(self).size() / 1024);
  return context.text(std::string(strip(bytes(self), ends, given ? &characters : nullptr)), markup(self));
}

Value list_of(Context& context, const std::vector<std::string_view>& parts, bool is_markup) {
  Items items;
  context.make(parts.size(), sizeof(Value));
  for (std::string_view part : parts) items.push_back(context.text(std::string(part), is_markup));
  return Value::list(std::move(items));
}

template <bool from_right>
Value split(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "split", .names = {"sep", "maxsplit"}});
  const long most = a.get(1) ? as_place(a.at(1)) : -1;
  const Value* separator = a.unless_none(0);
  context.step(bytes(self).size() / 8);
  if (!separator) return list_of(context, split_words(bytes(self), most, from_right), markup(self));
  check(separator->text() != nullptr, "must be str or None, not {}", type_name(*separator));
  check(!bytes(*separator).empty(), "empty separator");
  return list_of(context, split_at(bytes(self), bytes(*separator), most, from_right), markup(self));
}

Value lines(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "splitlines", .names = {"keepends"}});
  return list_of(context, split_lines(bytes(self), a.flag(0, false)), markup(self));
}

/// The part of a text between two places, which are arguments; none where it begins behind the end.
struct Part {
  std::string_view text;
  long first = 0;
};
std::optional<Part> part_of(const Value& self, const Arguments& a) {
  const std::string_view text = bytes(self);
  const auto length = static_cast<long>(self.text()->points);
  const auto bound = [&](std::size_t place, long otherwise) {
    long at = a.unless_none(place) ? as_place(*a.unless_none(place)) : otherwise;
    return at < 0 ? std::max(0L, at + length) : at;
  };
  const long first = bound(1, 0), end = std::min(bound(2, length), length);
  if (first > length || first > end) return {};
  const std::size_t from = byte_of_point(text, static_cast<std::size_t>(first));
  const std::string_view rest = text.substr(from);
  return Part{rest.substr(0, byte_of_point(rest, static_cast<std::size_t>(end - first))), first};
}

template <bool from_right, bool must>
Value find(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = must ? "index" : "find", .names = {"/sub", "/start", "/end"}, .required = 1});
  check(a.at(0).text() != nullptr, "must be str, not {}", type_name(a.at(0)));
  const std::optional<Part> part = part_of(self, a);
  context.step(bytes(self).size() / 64);
  std::size_t found = std::string_view::npos;
  if (part) found = from_right ? part->text.rfind(bytes(a.at(0))) : part->text.find(bytes(a.at(0)));
  check(!must || found != std::string_view::npos, "substring not found");
  if (found == std::string_view::npos) return Value::whole(-1);
  return Value::whole(part->first + static_cast<long>(code_points(part->text.substr(0, found))));
}

Value count(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "count", .names = {"/sub", "/start", "/end"}, .required = 1});
  check(a.at(0).text() != nullptr, "must be str, not {}", type_name(a.at(0)));
  const std::optional<Part> part = part_of(self, a);
  const std::string_view wanted = bytes(a.at(0));
  context.step(bytes(self).size() / 64);
  if (!part) return Value::whole(0);
  if (wanted.empty()) return Value::whole(static_cast<Integer>(code_points(part->text)) + 1);
  Integer number = 0;
  for (std::size_t at = 0; (at = part->text.find(wanted, at)) != std::string_view::npos; at += wanted.size()) ++number;
  return Value::whole(number);
}

template <bool at_end>
Value begins(Context&, const Value& self, const Call& call) {
  const char* name = at_end ? "endswith" : "startswith";
  const Arguments a(call, {.function = name, .names = {"/prefix", "/start", "/end"}, .required = 1});
  const std::optional<Part> part = part_of(self, a);
  const auto fits = [&](const Value& wanted) {
    check(wanted.text() != nullptr, "{} first arg must be str or a tuple of str, not {}", name, type_name(wanted));
    return part && (at_end ? part->text.ends_with(bytes(wanted)) : part->text.starts_with(bytes(wanted)));
  };
  if (!a.at(0).tuple()) return Value::truth(fits(a.at(0)));
  const Items& all = *a.at(0).tuple();
  return Value::truth(std::any_of(all.begin(), all.end(), fits));
}

template <bool at_end>
Value without(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = at_end ? "removesuffix" : "removeprefix", .names = {"/affix"}, .required = 1});
  std::string_view text = bytes(self);
  const std::string& affix = a.text(0);
  if (at_end ? text.ends_with(affix) : text.starts_with(affix))
    text = at_end ? text.substr(0, text.size() - affix.size()) : text.substr(affix.size());
  return context.text(std::string(text), markup(self));
}

Value replace(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "replace", .names = {"/old", "/new", "/count"}, .required = 2});
  a.text(0), a.text(1);
  const Value with = markup(self) ? escaped(context, a.at(1)) : a.at(1);
  return replaced(context, self, a.at(0), with, a.get(2) ? as_place(a.at(2)) : -1);
}

Value join(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "join", .names = {"/iterable"}, .required = 1});
  std::shared_ptr<Iterator> all = iterate(a.at(0));
  std::string result;
  std::size_t number = 0;
  for (Value item; all->next(context, item); ++number) {
    if (markup(self)) item = escaped(context, item);
    check(item.text() != nullptr, "sequence item {}: expected str instance, {} found", number, type_name(item));
    context.make(bytes(self).size() + bytes(item).size());
    if (number > 0) result += bytes(self);
    result += bytes(item);
  }
  return context.text(std::move(result), markup(self));
}

template <char align>
Value padded(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "center", .names = {"/width", "/fillchar"}, .required = 1});
  const std::string fill = a.get(1) ? a.text(1) : " ";
  check(code_points(fill) == 1, "The fill character must be exactly one character long");
  const long width = as_place(a.at(0)), room = std::max(0L, width - static_cast<long>(self.text()->points));
  context.make(static_cast<std::uint64_t>(room), fill.size());
  const long before = align == '>' ? room : align == '^' ? room / 2 + (room & width & 1) : 0;
  std::string result;
  for (long i = 0; i < before; ++i) result += fill;
  result += bytes(self);
  for (long i = before; i < room; ++i) result += fill;
  return context.text(std::move(result), markup(self));
}

Value zeros_before(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "zfill", .names = {"/width"}, .required = 1});
  const long room = as_place(a.at(0)) - static_cast<long>(self.text()->points);
  std::string text = bytes(self);
  if (room <= 0) return self;
  context.make(static_cast<std::uint64_t>(room));
  const bool sign = text.starts_with('-') || text.starts_with('+');
  text.insert(sign ? 1 : 0, static_cast<std::size_t>(room), '0');
  return context.text(std::move(text), markup(self));
}

template <bool from_right>
Value partition(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "partition", .names = {"/sep"}, .required = 1});
  const std::string_view text = bytes(self), separator = a.text(0);
  check(!separator.empty(), "empty separator");
  const std::size_t found = from_right ? text.rfind(separator) : text.find(separator);
  const auto piece = [&](std::string_view part) { return context.text(std::string(part), markup(self)); };
  if (found == std::string_view::npos)
    return from_right ? context.tuple({piece(""), piece(""), self}) : context.tuple({self, piece(""), piece("")});
  return context.tuple({piece(text.substr(0, found)), piece(separator), piece(text.substr(found + separator.size()))});
}

Value tabs_to_spaces(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "expandtabs", .names = {"tabsize"}});
  const long size = a.get(0) ? as_place(a.at(0)) : 8;
  std::string result;
  long column = 0;
  for (std::size_t place = 0; place < bytes(self).size();) {
    const std::size_t from = place;
    const char32_t point = next_code_point(bytes(self), place);
    if (point == '\t') {
      const long room = size > 0 ? size - column % size : 0;
      context.make(static_cast<std::uint64_t>(room));
      result.append(static_cast<std::size_t>(room), ' ');
      column += room;
      continue;
    }
    column = point == '\n' || point == '\r' ? 0 : column + 1;
    result += bytes(self).substr(from, place - from);
  }
  return context.text(std::move(result), markup(self));
}

Value format(Context& context, const Value& self, const Call& call) { return format_braces(context, self, call); }

Value format_map(Context& context, const Value& self, const Call& call) {
  const Arguments a(call, {.function = "format_map", .names = {"/mapping"}, .required = 1});
  check(a.at(0).dict() != nullptr, "format_map() argument must be a dict, not {}", type_name(a.at(0)));
  Call named;
  for (const auto& [key, value] : a.at(0).dict()->entries())
    if (key.text()) named.named.emplace_back(key.text()->bytes, value);
  return format_braces(context, self, named);
}

template <bool (*is)(char32_t)>
Value all_are(Context& context, const Value& self, const Call& call) {
  no_arguments(call, "str method");
  context.step(bytes(self).size() / 8);
  for (std::size_t place = 0; place < bytes(self).size();)
    if (!is(next_code_point(bytes(self), place))) return Value::truth(false);
  return Value::truth(!bytes(self).empty());
}

bool is_letter_or_number(char32_t point) { return is_alphabetic(point) || is_numeric(point); }

Value is_ascii_text(Context&, const Value& self, const Call& call) {
  no_arguments(call, "isascii");
  return Value::truth(self.text()->ascii());
}

Value is_printable_text(Context& context, const Value& self, const Call& call) {
  return bytes(self).empty() ? Value::truth(true) : all_are<is_printable>(context, self, call);
}

Value is_identifier(Context&, const Value& self, const Call& call) {
  no_arguments(call, "isidentifier");
  std::size_t place = 0;
  if (bytes(self).empty() || !begins_identifier(next_code_point(bytes(self), place))) return Value::truth(false);
  while (place < bytes(self).size())
    if (!continues_identifier(next_code_point(bytes(self), place))) return Value::truth(false);
  return Value::truth(true);
}

template <bool (*wrong_case)(char32_t), bool (*right_case)(char32_t)>
Value has_case(Context& context, const Value& self, const Call& call) {
  no_arguments(call, "str method");
  return Value::truth(in_case(context, bytes(self), wrong_case, right_case));
}

Value is_title_text(Context& context, const Value& self, const Call& call) {
  no_arguments(call, "istitle");
  context.step(bytes(self).size() / 8);
  bool cased = false, after_cased = false;
  for (std::size_t place = 0; place < bytes(self).size();) {
    const char32_t point = next_code_point(bytes(self), place);
    const bool big = is_upper(point) || is_title(point), small = is_lower(point);
    if ((big && after_cased) || (small && !after_cased)) return Value::truth(false);
    after_cased = big || small;
    cased = cased || after_cased;
  }
  return Value::truth(cased);
}

}  // namespace

bool in_case(Context& context, std::string_view text, bool (*wrong)(char32_t), bool (*right)(char32_t)) {
  context.step(text.size() / 8);
  bool cased = false;
  for (std::size_t place = 0; place < text.size();) {
    const char32_t point = next_code_point(text, place);
    if (wrong(point) || is_title(point)) return false;
    cased = cased || right(point);
  }
  return cased;
}

Value replaced(Context& context, const Value& text, const Value& old, const Value& with, long most) {
  const std::string_view from = bytes(text), wanted = bytes(old), fresh = bytes(with);
  context.step(from.size() / 64);
  std::string result;
  std::size_t place = 0;
  for (long done = 0; most < 0 || done < most; ++done) {
    // Nothing stands before every character and at the end.
    const std::size_t skipped =
        wanted.empty() && done > 0 ? (place < from.size() ? utf8_length(from[place]) : from.size() + 1) : 0;
    if (place + skipped > from.size()) break;
    const std::size_t found = from.find(wanted, place + skipped);
    if (found == std::string_view::npos) break;
    context.make(found - place + fresh.size());
    result += from.substr(place, found - place);
    result += fresh;
    place = found + wanted.size();
  }
  result += from.substr(place);
  return context.text(std::move(result), markup(text));
}

Method find_text_method(std::string_view name) {
  static const std::map<std::string_view, Method> methods = {
      {"capitalize", changed<capitalize>},
      {"casefold", changed<fold>},
      {"center", padded<'^'>},
      {"count", count},
      {"endswith", begins<true>},
      {"expandtabs", tabs_to_spaces},
      {"find", find<false, false>},
      {"format", format},
      {"format_map", format_map},
      {"index", find<false, true>},
      {"isalnum", all_are<is_letter_or_number>},
      {"isalpha", all_are<is_alphabetic>},
      {"isascii", is_ascii_text},
      {"isdecimal", all_are<is_decimal>},
      {"isdigit", all_are<is_digit>},
      {"isidentifier", is_identifier},
      {"islower", has_case<is_upper, is_lower>},
      {"isnumeric", all_are<is_numeric>},
      {"isprintable", is_printable_text},
      {"isspace", all_are<is_space>},
      {"istitle", is_title_text},
      {"isupper", has_case<is_lower, is_upper>},
      {"join", join},
      {"ljust", padded<'<'>},
      {"lower", changed<lower>},
      {"lstrip", stripped<Ends::left>},
      {"partition", partition<false>},
      {"removeprefix", without<false>},
      {"removesuffix", without<true>},
      {"replace", replace},
      {"rfind", find<true, false>},
      {"rindex", find<true, true>},
      {"rjust", padded<'>'>},
      {"rpartition", partition<true>},
      {"rsplit", split<true>},
      {"rstrip", stripped<Ends::right>},
      {"split", split<false>},
      {"splitlines", lines},
      {"startswith", begins<false>},
      {"strip", stripped<Ends::both>},
      {"swapcase", changed<swap_case>},
      {"title", changed<title_case>},
      {"upper", changed<upper>},
      {"zfill", zeros_before},
  };
  const auto found = methods.find(name);
  return found == methods.end() ? nullptr : found->second;
}

}  // namespace attune::jinja
