#include "attune/text/template/operators.h"

#include <cmath>

#include "attune/base/error.h"
#include "attune/text/template/formatting.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

const char* symbol(Operator op) {
  switch (op) {
    case Operator::add:
      return "+";
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    case Operator::power:
      return "** or pow()";
  }
  return "";
}

[[noreturn]] void fail_types(Operator op, const Value& left, const Value& right) {
  fail("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), type_name(left), type_name(right));
}

[[noreturn]] void fail_size() { fail("a whole number beyond 128 bits"); }

std::optional<double> as_real(const Value& value) {
  if (value.real()) return *value.real();
  if (auto number = value.whole()) return static_cast<double>(*number);
  return {};
}

Integer floor_quotient(Integer a, Integer b) {
  check(b != 0, "integer division or modulo by zero");
  if (b == -1) {
    Integer result;
    if (__builtin_sub_overflow(Integer{0}, a, &result)) fail_size();
    return result;
  }
  const Integer quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

Integer floor_remainder(Integer a, Integer b) {
  check(b != 0, "integer modulo by zero");
  if (b == -1) return 0;
  const Integer remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Integer power(Integer base, Integer exponent) {
  Integer result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) fail_size();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) fail_size();
  }
  return result;
}

double real_power(double base, double exponent) {
  check(base != 0 || exponent >= 0, "0.0 cannot be raised to a negative power");
  const double result = std::pow(base, exponent);
  check(!(std::isnan(result) && !std::isnan(base) && !std::isnan(exponent)),
        "a negative number to a broken power is a complex number: templates here have none");
  check(!(std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)), "Numerical result out of range");
  return result;
}

double real_remainder(double a, double b) {
  check(b != 0, "float modulo");
  const double remainder = std::fmod(a, b);
  if (remainder != 0) return (remainder < 0) != (b < 0) ? remainder + b : remainder;
  return std::copysign(0.0, b);
}

Value apply_whole(Operator op, Integer a, Integer b) {
  Integer result = 0;
  bool beyond = false;
  switch (op) {
    case Operator::add:
      beyond = __builtin_add_overflow(a, b, &result);
      break;
    case Operator::subtract:
      beyond = __builtin_sub_overflow(a, b, &result);
      break;
    case Operator::multiply:
      beyond = __builtin_mul_overflow(a, b, &result);
      break;
    case Operator::floor_divide:
      result = floor_quotient(a, b);
      break;
    case Operator::modulo:
      result = floor_remainder(a, b);
      break;
    case Operator::divide:
      check(b != 0, "division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operator::power:
      if (b < 0) return Value::real(real_power(static_cast<double>(a), static_cast<double>(b)));
      result = power(a, b);
  }
  if (beyond) fail_size();
  return Value::whole(result);
}

Value apply_real(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return Value::real(a + b);
    case Operator::subtract:
      return Value::real(a - b);
    case Operator::multiply:
      return Value::real(a * b);
    case Operator::divide:
      check(b != 0, "float division by zero");
      return Value::real(a / b);
    case Operator::floor_divide: {
      check(b != 0, "float floor division by zero");
      const double quotient = std::floor((a - real_remainder(a, b)) / b + 0.5);
      return Value::real(quotient == 0 ? std::copysign(0.0, a / b) : quotient);
    }
    case Operator::modulo:
      return Value::real(real_remainder(a, b));
    case Operator::power:
      return Value::real(real_power(a, b));
  }
  return {};
}

Value joined_texts(Context& context, const Value& left, const Value& right) {
  const bool markup = left.text()->markup || right.text()->markup;
  const Value a = markup ? escaped(context, left) : left, b = markup ? escaped(context, right) : right;
  context.make(a.text()->bytes.size() + b.text()->bytes.size());
  return Value::text(a.text()->bytes + b.text()->bytes, markup);
}

Value joined_items(Context& context, const Value& left, const Value& right) {
  context.make(left.items()->size() + right.items()->size(), sizeof(Value));
  Items items = *left.items();
  items.insert(items.end(), right.items()->begin(), right.items()->end());
  return left.list() ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value repeated(Context& context, const Value& value, Integer count) {
  const auto times = count < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(std::min<Integer>(count, INT64_MAX));
  if (const Text* text = value.text()) {
    context.make(text->bytes.empty() ? 0 : times, text->bytes.size());
    std::string all;
    if (!text->bytes.empty()) all.reserve(times * text->bytes.size());
    for (std::uint64_t i = 0; i < times && !text->bytes.empty(); ++i) all += text->bytes;
    return Value::text(std::move(all), text->markup);
  }
  const Items& items = *value.items();
  context.make(items.empty() ? 0 : times, items.size() * sizeof(Value));
  Items all;
  for (std::uint64_t i = 0; i < times && !items.empty(); ++i) all.insert(all.end(), items.begin(), items.end());
  return value.list() ? Value::list(std::move(all)) : Value::tuple(std::move(all));
}

Value add(Context& context, const Value& left, const Value& right) {
  if (left.text() && right.text()) return joined_texts(context, left, right);
  if ((left.list() && right.list()) || (left.tuple() && right.tuple())) return joined_items(context, left, right);
  const char* kind = left.text() ? "str" : left.list() ? "list" : left.tuple() ? "tuple" : nullptr;
  check(kind == nullptr, "can only concatenate {} (not \"{}\") to {}", kind ? kind : "", type_name(right),
        kind ? kind : "");
  fail_types(Operator::add, left, right);
}

bool is_repeatable(const Value& value) { return value.text() || value.items(); }

bool less_numbers(const Value& left, const Value& right) {
  const auto a = left.whole(), b = right.whole();
  if (a && b) return *a < *b;
  const auto real = [](const Value& v) {
    return v.real() ? static_cast<long double>(*v.real()) : static_cast<long double>(*v.whole());
  };
  return real(left) < real(right);
}

const char* symbol(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return "<";
    case Comparison::less_equal:
      return "<=";
    case Comparison::greater:
      return ">";
    default:
      return ">=";
  }
}

/// <, <=, > or >= of two values.
bool ordered(Context& context, Comparison comparison, const Value& left, const Value& right) {
  check_defined(left);
  check_defined(right);
  context.step();
  const auto decide = [&](bool is_less, bool is_greater) {
    if (comparison == Comparison::less) return is_less;
    if (comparison == Comparison::greater) return is_greater;
    return comparison == Comparison::less_equal ? !is_greater : !is_less;
  };
  if (left.text() && right.text()) {
    const int order = left.text()->bytes.compare(right.text()->bytes);  // UTF-8 sorts as code points do
    return decide(order<0, order> 0);
  }
  if (as_real(left) && as_real(right)) {
    const bool nan = (left.real() && std::isnan(*left.real())) || (right.real() && std::isnan(*right.real()));
    return !nan && decide(less_numbers(left, right), less_numbers(right, left));
  }
  const bool alike = (left.list() && right.list()) || (left.tuple() && right.tuple());
  check(alike, "'{}' not supported between instances of '{}' and '{}'", symbol(comparison), type_name(left),
        type_name(right));
  const Items &a = *left.items(), &b = *right.items();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!equal(context, a[i], b[i])) return ordered(context, comparison, a[i], b[i]);
  return decide(a.size() < b.size(), a.size() > b.size());
}

bool equal_dicts(Context& context, const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (!other || !equal(context, value, *other)) return false;
  }
  return true;
}

}  // namespace

Value apply(Context& context, Operator op, const Value& left, const Value& right) {
  if (op == Operator::modulo && left.text()) return formatted(context, left, right);
  check_defined(left);
  check_defined(right);
  const auto a = left.whole(), b = right.whole();
  if (a && b) return apply_whole(op, *a, *b);
  const auto x = as_real(left), y = as_real(right);
  if (x && y) return apply_real(op, *x, *y);
  if (op == Operator::add) return add(context, left, right);
  if (op != Operator::multiply || !(is_repeatable(left) || is_repeatable(right))) fail_types(op, left, right);
  const Value& count = is_repeatable(left) ? right : left;
  check(count.whole().has_value(), "can't multiply sequence by non-int of type '{}'", type_name(count));
  return repeated(context, is_repeatable(left) ? left : right, *count.whole());
}

Value negative(const Value& value) {
  check_defined(value);
  if (value.real()) return Value::real(-*value.real());
  check(value.whole().has_value(), "bad operand type for unary -: '{}'", type_name(value));
  return apply_whole(Operator::subtract, 0, *value.whole());
}

Value positive(const Value& value) {
  check_defined(value);
  if (value.real()) return value;
  check(value.whole().has_value(), "bad operand type for unary +: '{}'", type_name(value));
  return Value::whole(*value.whole());
}

bool equal(Context& context, const Value& left, const Value& right) {
  context.step();
  if (left.text() && right.text()) {
    context.step(std::min(left.text()->bytes.size(), right.text()->bytes.size()) / 64);
    return left.text()->bytes == right.text()->bytes;
  }
  if (as_real(left) && as_real(right)) {
    const auto a = left.whole(), b = right.whole();
    if (a && b) return *a == *b;
    return !less_numbers(left, right) && !less_numbers(right, left) && !std::isnan(*as_real(left)) &&
           !std::isnan(*as_real(right));
  }
  if ((left.list() && right.list()) || (left.tuple() && right.tuple())) {
    const Items &a = *left.items(), &b = *right.items();
    if (&a == &b) return true;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!equal(context, a[i], b[i])) return false;
    return true;
  }
  if (left.dict() && right.dict())
    return left.dict() == right.dict() || equal_dicts(context, *left.dict(), *right.dict());
  if (left.undefined() && right.undefined()) return true;
  if (left.object() && right.object()) return equal_objects(context, left, right);
  return left.is_none() && right.is_none();
}

bool less(Context& context, const Value& left, const Value& right) {
  return ordered(context, Comparison::less, left, right);
}

bool contains(Context& context, const Value& collection, const Value& item) {
  if (const Text* text = collection.text()) {
    check(item.text() != nullptr, "'in <string>' requires string as left operand, not {}", type_name(item));
    context.step(text->bytes.size() / 64);
    return text->bytes.find(item.text()->bytes) != std::string::npos;
  }
  if (const Dict* dict = collection.dict()) return dict->find(item) != nullptr;
  if (collection.object() && !collection.object()->iterate())
    fail("argument of type '{}' is not iterable", type_name(collection));
  if (!collection.items() && !collection.object() && !collection.undefined())
    fail("argument of type '{}' is not iterable", type_name(collection));
  std::shared_ptr<Iterator> all = iterate(collection);
  for (Value one; all->next(context, one);)
    if (one.same_as(item) || equal(context, one, item)) return true;
  return false;
}

bool compare(Context& context, Comparison comparison, const Value& left, const Value& right) {
  switch (comparison) {
    case Comparison::equal:
      return equal(context, left, right);
    case Comparison::unequal:
      return !equal(context, left, right);
    case Comparison::in:
      return contains(context, right, left);
    case Comparison::not_in:
      return !contains(context, right, left);
    default:
      return ordered(context, comparison, left, right);
  }
}

Value escaped(Context& context, const Value& value) {
  if (value.text() && value.text()->markup) return value;
  std::string to;
  const std::string from = to_text(value, context);
  context.make(from.size(), 5);
  for (char c : from) {
    switch (c) {
      case '&':
        to += "&amp;";
        break;
      case '<':
        to += "&lt;";
        break;
      case '>':
        to += "&gt;";
        break;
      case '\'':
        to += "&#39;";
        break;
      case '"':
        to += "&#34;";
        break;
      default:
        to += c;
    }
  }
  return Value::text(std::move(to), true);
}

}  // namespace attune::jinja
