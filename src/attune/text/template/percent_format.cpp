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

/// "%(name)-08.3f" and its like, one after the other.
class PercentFormat {
 public:
  PercentFormat(Context& context, const Text& format, const Value& values)
      : context_(context), text_(format.bytes), markup_(format.markup), values_(values) {
    mapping_ = values.dict() || values.list() || values.undefined();
  }

  std::string run() {
    std::string result;
    while (place_ < text_.size()) {
      const std::size_t percent = std::min(text_.find('%', place_), text_.size());
      result += text_.substr(place_, percent - place_);
      place_ = percent + 1;
      if (percent < text_.size()) result += conversion();
    }
    const std::size_t given = values_.tuple() ? values_.tuple()->size() : 1;
    check(mapping_ || used_ >= given, "not all arguments converted during string formatting");
    return result;
  }

 private:
  char next() {
    check(place_ < text_.size(), "incomplete format");
    return text_[place_++];
  }

  long number() {
    if (place_ < text_.size() && text_[place_] == '*') {
      ++place_;
      const Value value = take();
      check(value.whole().has_value(), "* wants int");
      return as_place(value);
    }
    long count = 0;
    while (place_ < text_.size() && text_[place_] >= '0' && text_[place_] <= '9') {
      count = count * 10 + (text_[place_++] - '0');
      check(count <= widest, "a field of more than {} characters in a format", widest);
    }
    return count;
  }

  Value take() {
    if (!values_.tuple()) {
      check(used_++ == 0, "not enough arguments for format string");
      return values_;
    }
    check(used_ < values_.tuple()->size(), "not enough arguments for format string");
    return (*values_.tuple())[used_++];
  }

  /// The value of "(name)".
  Value named() {
    check(mapping_, "format requires a mapping");
    const std::size_t begin = place_;
    for (int open = 1; open > 0;) {
      check(place_ < text_.size(), "incomplete format key");
      const char c = text_[place_++];
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    const std::string key = std::string(text_.substr(begin, place_ - 1 - begin));
    check_defined(values_);
    check(values_.dict() != nullptr, "list indices must be integers or slices, not str");
    const Value* found = values_.dict()->find(key);
    check(found != nullptr, "KeyError: {}", repr(key));
    return *found;
  }

  std::string conversion() {
    Layout layout;
    layout.align = '>';
    std::optional<Value> value;
    if (place_ < text_.size() && text_[place_] == '(') {
      ++place_;
      value = named();
    }
    for (; place_ < text_.size(); ++place_) {
      const char flag = text_[place_];
      if (flag == '-')
        layout.align = '<';
      else if (flag == '+')
        layout.sign = '+';
      else if (flag == ' ')
        layout.sign = layout.sign == '+' ? '+' : ' ';
      else if (flag == '#')
        layout.alternate = true;
      else if (flag == '0')
        layout.zero = true;
      else
        break;
    }
    layout.width = number();
    if (layout.width < 0) layout.width = -layout.width, layout.align = '<';
    if (place_ < text_.size() && text_[place_] == '.') {
      ++place_;
      layout.precision = std::max(0L, number());
    }
    check(layout.width <= widest && layout.precision <= widest, "a field of more than {} characters in a format",
          widest);
    char type = next();
    while (type == 'h' || type == 'l' || type == 'L') type = next();
    if (type == '%') return "%";
    if (!value) value = take();
    return converted(type, *value, layout);
  }

  std::string converted(char type, const Value& value, Layout layout) {
    layout.type = type;
    switch (type) {
      case 's':
        return text(markup_ ? *escaped(context_, value).text() : Text{to_text(value, context_)}, layout);
      case 'r':
        return text(Text{repr(value, context_)}, layout);
      case 'a':
        return text(Text{ascii_of(repr(value, context_))}, layout);
      case 'c':
        return text(Text{character(value)}, layout);
      case 'd':
      case 'i':
      case 'u':
        layout.type = 'd';
        return whole(value, layout);
      case 'o':
      case 'x':
      case 'X':
        return whole(value, layout);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return real(value, layout);
      default:
        fail("unsupported format character '{}' ({:#x}) at index {}", type, static_cast<unsigned char>(type),
             place_ - 1);
    }
  }

  std::string text(const Text& text, Layout layout) { return laid_out_text(context_, text.bytes, layout); }

  static std::string character(const Value& value) {
    if (value.text()) {
      check(code_points(value.text()->bytes) == 1, "%c requires int or char");
      return value.text()->bytes;
    }
    check(value.whole().has_value(), "%c requires int or char");
    const Integer point = *value.whole();
    check(point >= 0 && point < 0x110000 && (point < 0xD800 || point > 0xDFFF), "%c arg not in range(0x110000)");
    std::string result;
    append_utf8(result, static_cast<char32_t>(point));
    return result;
  }

  std::string whole(const Value& value, Layout layout) {
    std::optional<Integer> number = value.whole();
    if (!number && value.real() && layout.type == 'd') {
      check(std::abs(*value.real()) < 1e38, "a whole number beyond 128 bits");
      number = static_cast<Integer>(*value.real());
    }
    if (!number) check_defined(value);
    check(number.has_value(), "%{} format: {} is required, not {}", layout.type == 'd' ? 'd' : layout.type,
          layout.type == 'd' ? "a real number" : "an integer", type_name(value));
    std::string digits = whole_digits(*number, layout);
    if (static_cast<long>(digits.size()) < layout.precision)
      digits.insert(0, static_cast<std::size_t>(layout.precision) - digits.size(), '0');
    std::string sign = sign_of(*number < 0, layout);
    if (layout.alternate && layout.type != 'd') sign += layout.type == 'o' ? "0o" : layout.type == 'x' ? "0x" : "0X";
    return number_text(sign, digits, layout);
  }

  std::string real(const Value& value, const Layout& layout) {
    check_defined(value);
    check(value.real() || value.whole(), "must be real number, not {}", type_name(value));
    const double number = value.real() ? *value.real() : static_cast<double>(*value.whole());
    return number_text(sign_of(std::signbit(number) && !std::isnan(number), layout), real_digits(number, layout),
                       layout);
  }

  std::string number_text(const std::string& sign, const std::string& digits, Layout layout) {
    if (layout.align == '<')
      layout.zero = false;
    else
      layout.align = layout.zero ? '=' : '>';
    layout.fill = layout.zero ? "0" : " ";
    return laid_out_number(context_, sign, digits, layout);
  }

  Context& context_;
  std::string_view text_;
  bool markup_;
  const Value& values_;
  bool mapping_ = false;
  std::size_t place_ = 0, used_ = 0;
};

}  // namespace

Value formatted(Context& context, const Value& format, const Value& values) {
  std::string result = PercentFormat(context, *format.text(), values).run();
  return context.text(std::move(result), format.text()->markup);
}

}  // namespace attune::jinja
