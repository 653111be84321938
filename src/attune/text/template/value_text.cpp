#include <charconv>
#include <cmath>

#include "attune/base/error.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/value.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

void append_repr(std::string& to, const Value& value, Meter& meter);

void append_all(std::string& to, const Items& items, Meter& meter) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) to += ", ";
    first = false;
    append_repr(to, item, meter);
  }
}

void append_dict(std::string& to, const Dict& dict, Meter& meter) {
  to += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) to += ", ";
    first = false;
    append_repr(to, key, meter);
    to += ": ";
    append_repr(to, value, meter);
  }
  to += '}';
}

void append_repr(std::string& to, const Value& value, Meter& meter) {
  if (const Text* text = value.text()) {
    to += text->markup ? "Markup(" + repr(text->bytes) + ")" : repr(text->bytes);
  } else if (const Items* list = value.list()) {
    to += '[';
    append_all(to, *list, meter);
    to += ']';
  } else if (const Items* tuple = value.tuple()) {
    to += '(';
    append_all(to, *tuple, meter);
    to += tuple->size() == 1 ? ",)" : ")";
  } else if (const Dict* dict = value.dict()) {
    append_dict(to, *dict, meter);
  } else if (Object* object = value.object()) {
    to += object->repr(meter);
  } else if (value.undefined()) {
    to += "Undefined";
  } else if (const bool* flag = value.boolean()) {
    to += *flag ? "True" : "False";
  } else if (const Integer* number = value.integer()) {
    to += digits_of(*number);
  } else if (const double* number = value.real()) {
    to += repr(*number);
  } else {
    to += "None";
  }
}

}  // namespace

std::string digits_of(Integer value) {
  __extension__ typedef unsigned __int128 Magnitude;
  Magnitude left = value < 0 ? -static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
  while ((left /= 10) != 0);
  return value < 0 ? "-" + digits : digits;
}

/// The shortest digits that read back as the value; an exponent below 1e-4 and from 1e16 on.
std::string repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, end, exponent);
  const std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (char c : text.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    const std::string fraction = count > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02}", sign, digits[0], fraction, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  return sign + digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
         digits.substr(static_cast<std::size_t>(exponent) + 1);
}

/// In single quotes, unless there are such in it and no double ones.
std::string repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string to(1, quote);
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t from = place;
    const char32_t point = next_code_point(text, place);
    if (point == static_cast<unsigned char>(quote) || point == '\\') {
      to += '\\';
      to += static_cast<char>(point);
    } else if (point == '\n') {
      to += "\\n";
    } else if (point == '\r') {
      to += "\\r";
    } else if (point == '\t') {
      to += "\\t";
    } else if (is_printable(point)) {
      to += text.substr(from, place - from);
    } else {
      const auto number = static_cast<std::uint32_t>(point);
      to += number < 0x100     ? fmt::format("\\x{:02x}", number)
            : number < 0x10000 ? fmt::format("\\u{:04x}", number)
                               : fmt::format("\\U{:08x}", number);
    }
  }
  return to + quote;
}

std::string repr(const Value& value, Meter& meter) {
  meter.make(value.weight());
  std::string to;
  append_repr(to, value, meter);
  meter.make(to.size());
  return to;
}

std::string to_text(const Value& value, Meter& meter) {
  if (const Text* text = value.text()) {
    meter.make(text->bytes.size());
    return text->bytes;
  }
  return value.undefined() ? std::string() : repr(value, meter);
}

std::string type_name(const Value& value) {
  if (value.text()) return value.text()->markup ? "Markup" : "str";
  if (value.list()) return "list";
  if (value.tuple()) return "tuple";
  if (value.dict()) return "dict";
  if (value.object()) return value.object()->type_name();
  if (value.undefined()) return "Undefined";
  if (value.boolean()) return "bool";
  if (value.integer()) return "int";
  return value.real() ? "float" : "NoneType";
}

std::string described_type(const Value& value) { return value.is_none() ? "None" : type_name(value) + " object"; }

}  // namespace attune::jinja
