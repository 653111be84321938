#include <charconv>
#include <cmath>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/formatting.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/views.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

long digits_at(std::string_view text, std::size_t& place) {
  long number = 0;
  for (; place < text.size() && text[place] >= '0' && text[place] <= '9'; ++place) {
    number = number * 10 + (text[place] - '0');
    check(number <= widest, "Too many decimal digits in format string");
  }
  return number;
}

Layout parse_layout(std::string_view spec, std::string_view type) {
  Layout layout;
  std::size_t place = 0;
  bool filled = false;  // with a character of its own
  const std::size_t first = spec.empty() ? 0 : utf8_length(spec[0]);
  if (first < spec.size() && is_align(spec[first])) {
    layout.fill = std::string(spec.substr(0, first));
    layout.align = spec[first];
    place = first + 1;
    filled = true;
  } else if (!spec.empty() && is_align(spec[0])) {
    layout.align = spec[place++];
  }
  const auto at = [&](char c) { return place < spec.size() && spec[place] == c; };
  if (at('+') || at('-') || at(' ')) layout.sign = spec[place++];
  if (at('#')) layout.alternate = true, ++place;
  if (at('0')) {
    layout.zero = true;
    if (!filled) layout.fill.assign(1, '0');
    ++place;
  }
  layout.width = digits_at(spec, place);
  if (at(',') || at('_')) layout.grouping = spec[place++];
  if (at('.')) {
    const std::size_t begin = ++place;
    layout.precision = digits_at(spec, place);
    check(place > begin, "Format specifier missing precision");
  }
  if (place < spec.size()) layout.type = spec[place++];
  check(place == spec.size(), "Invalid format specifier '{}' for object of type '{}'", spec, type);
  return layout;
}

[[noreturn]] void fail_code(char code, const Value& value) {
  fail("Unknown format code '{}' for object of type '{}'", code, type_name(value));
}

/// A precision without a type: as g, but a fixed number keeps a digit behind its point, within the precision.
std::string general_digits(double number, Layout layout) {
  layout.type = 'g';
  layout.precision = std::max(layout.precision, 1L);
  std::string digits = real_digits(number, layout);
  if (digits.find_first_of("en") != std::string::npos) return digits;  // with an exponent, or not finite
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  if (whole < static_cast<std::size_t>(layout.precision)) return whole == digits.size() ? digits + ".0" : digits;
  layout.type = 'e';
  --layout.precision;
  digits = real_digits(number, layout);
  if (layout.alternate || layout.precision == 0) return digits;
  const std::size_t exponent = digits.find('e');
  std::size_t end = exponent;
  while (digits[end - 1] == '0') --end;
  if (digits[end - 1] == '.') --end;
  return digits.erase(end, exponent - end);
}

std::string real_text(Context& context, double number, Layout layout, const Value& value) {
  const std::string sign = sign_of(std::signbit(number) && !std::isnan(number), layout);
  std::string digits;
  if (layout.type == 0) {
    if (layout.precision < 0) {
      digits = repr(std::abs(number));
    } else {
      digits = general_digits(number, layout);
    }
  } else {
    if (layout.type == 'n') layout.type = 'g';
    if (std::string_view("eEfFgG%").find(layout.type) == std::string_view::npos) fail_code(layout.type, value);
    digits = real_digits(number, layout);
  }
  return laid_out_number(context, sign, digits, layout);
}

std::string whole_text(Context& context, Integer number, Layout layout, const Value& value) {
  if (layout.type && std::string_view("eEfFgG%").find(layout.type) != std::string_view::npos)
    return real_text(context, static_cast<double>(number), layout, value);
  check(layout.precision < 0, "Precision not allowed in integer format specifier");
  if (layout.type == 0 || layout.type == 'n') layout.type = 'd';
  if (layout.type == 'c') {
    check(number >= 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF), "%c arg not in range(0x110000)");
    std::string character;
    append_utf8(character, static_cast<char32_t>(number));
    return laid_out_text(context, character, layout);
  }
  if (std::string_view("bdoxX").find(layout.type) == std::string_view::npos) fail_code(layout.type, value);
  std::string sign = sign_of(number < 0, layout);
  if (layout.alternate && layout.type != 'd') sign += std::string("0") + layout.type;
  return laid_out_number(context, sign, whole_digits(number, layout), layout);
}

/// Python's format(value, spec).
std::string with_spec(Context& context, const Value& value, std::string_view spec) {
  if (spec.empty()) return to_text(value, context);
  if (value.text() || value.boolean() || value.whole() || value.real()) {
    Layout layout = parse_layout(spec, type_name(value));
    if (value.real()) return real_text(context, *value.real(), layout, value);
    if (value.whole()) return whole_text(context, *value.whole(), layout, value);
    if (layout.type != 0 && layout.type != 's') fail_code(layout.type, value);
    check(layout.align != '=', "'=' alignment not allowed in string format specifier");
    check(layout.grouping == 0, "Cannot specify '{}' with 's'.", layout.grouping);
    check(layout.sign == '-', "Sign not allowed in string format specifier");
    return laid_out_text(context, value.text()->bytes, layout);
  }
  fail("unsupported format string passed to {}.__format__", type_name(value));
}

class BraceFormat {
 public:
  BraceFormat(Context& context, const Call& call, bool markup) : context_(context), call_(call), markup_(markup) {}

  std::string run(std::string_view text, int depth) {
    check(depth >= 0, "Max string recursion exceeded");
    std::string result;
    for (std::size_t place = 0; place < text.size();) {
      const char c = text[place++];
      if (c != '{' && c != '}') {
        result += c;
      } else if (place < text.size() && text[place] == c) {
        result += c;
        ++place;
      } else {
        check(c == '{', "Single '}}' encountered in format string");
        check(place < text.size(), "Single '{{' encountered in format string");
        result += field(inside(text, place), depth);
      }
    }
    return result;
  }

 private:
  /// What stands before the brace that closes; moves `place` behind it.
  static std::string_view inside(std::string_view text, std::size_t& place) {
    const std::size_t begin = place;
    for (int open = 1; place < text.size();) {
      const char c = text[place++];
      open += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (open == 0) return text.substr(begin, place - 1 - begin);
    }
    fail("expected '}}' before end of string");
  }

  std::string field(std::string_view text, int depth) {
    // NAME[!CONVERSION][:SPEC]; a bracket in the name may hold either mark
    std::size_t end = 0;
    for (bool bracket = false; end < text.size() && (bracket || (text[end] != '!' && text[end] != ':')); ++end)
      bracket = text[end] == '[' || (bracket && text[end] != ']');
    Value value = lookup(text.substr(0, end));
    text.remove_prefix(end);
    bool converted = false;
    if (text.starts_with('!')) {
      check(text.size() >= 2 && (text.size() == 2 || text[2] == ':'), "expected ':' after conversion specifier");
      value = conversion(value, text[1]);
      converted = true;
      text.remove_prefix(2);
    }
    const std::string spec = text.empty() ? std::string() : run(text.substr(1), depth - 1);
    if (!markup_ || (converted && spec.empty())) return with_spec(context_, value, spec);
    if (value.text() && value.text()->markup) return with_spec(context_, value, spec);
    return escaped(context_, Value::text(with_spec(context_, value, spec))).text()->bytes;
  }

  Value conversion(const Value& value, char kind) {
    switch (kind) {
      case 's':
        return Value::text(to_text(value, context_));
      case 'r':
        return Value::text(repr(value, context_));
      case 'a':
        return Value::text(ascii_of(repr(value, context_)));
      default:
        fail("Unknown conversion specifier {}", kind);
    }
  }

  Value lookup(std::string_view name) {
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, end));
    name.remove_prefix(end);
    while (!name.empty()) {
      if (name[0] == '.') {
        const std::size_t stop = std::min(name.find_first_of(".[", 1), name.size());
        check(stop > 1, "Empty attribute in format string");
        value = get_attribute(context_, value, name.substr(1, stop - 1));
        name.remove_prefix(stop);
        continue;
      }
      check(name[0] == '[', "Only '.' or '[' may follow ']' in format field specifier");
      const std::size_t stop = name.find(']');
      check(stop != std::string_view::npos, "Missing ']' in format string");
      check(stop > 1, "Empty attribute in format string");
      const std::string_view key = name.substr(1, stop - 1);
      const auto number = as_number(key);
      value = get_item(context_, value, number ? Value::whole(*number) : Value::text(std::string(key)));
      name.remove_prefix(stop + 1);
    }
    return value;
  }

  static std::optional<long> as_number(std::string_view text) {
    long number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool all = fault == std::errc() && end == text.data() + text.size() && text[0] != '-';
    return all ? std::optional(number) : std::nullopt;
  }

  Value first(std::string_view name) {
    std::optional<long> number = as_number(name);
    if (name.empty() || number) {
      const bool automatic = name.empty();
      check(!(automatic ? manual_ : next_ > 0), "cannot switch from {}",
            automatic ? "manual field specification to automatic field numbering"
                      : "automatic field numbering to manual field specification");
      manual_ = !automatic;
      const auto place = static_cast<std::size_t>(automatic ? next_++ : *number);
      check(place < call_.positional.size(), "Replacement index {} out of range for positional args tuple", place);
      return call_.positional[place];
    }
    for (const auto& [key, value] : call_.named)
      if (key == name) return value;
    fail("KeyError: {}", repr(name));
  }

  Context& context_;
  const Call& call_;
  bool markup_;
  long next_ = 0;
  bool manual_ = false;
};

}  // namespace

Value format_braces(Context& context, const Value& format, const Call& call) {
  std::string result = BraceFormat(context, call, format.text()->markup).run(format.text()->bytes, 2);
  return context.text(std::move(result), format.text()->markup);
}

}  // namespace attune::jinja
