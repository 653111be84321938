#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/literals.h"
#include "attune/text/template/operators.h"

namespace attune::jinja {

namespace {

Value absolute(Context& context, const Value& value, const Call& call) {
  Arguments(call, {.function = "abs", .names = {}});
  if (value.real()) return Value::real(std::abs(*value.real()));
  check(value.whole().has_value(), "bad operand type for abs(): '{}'", type_name(value));
  return *value.whole() < 0 ? negative(value) : apply(context, Operator::add, value, Value::whole(0));
}

std::optional<Integer> truncated(double number) {
  if (std::isnan(number) || std::isinf(number)) return {};
  check(std::abs(number) < 1.7e38, "a whole number beyond 128 bits");
  return static_cast<Integer>(number);
}

Value whole(Context&, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_int", .names = {"default", "base"}});
  const Value otherwise = a.get(0) ? a.at(0) : Value::whole(0);
  const long base = a.get(1) ? as_place(a.at(1)) : 10;
  check_defined(value);
  if (value.whole()) return Value::whole(*value.whole());
  if (value.real()) {
    check(!std::isinf(*value.real()), "cannot convert float infinity to integer");
    const auto number = truncated(*value.real());
    return number ? Value::whole(*number) : otherwise;
  }
  if (!value.text()) return otherwise;
  const bool known_base = base == 0 || (base >= 2 && base <= 36);
  if (const auto number = known_base ? parse_whole(value.text()->bytes, static_cast<int>(base)) : std::nullopt)
    return Value::whole(*number);
  const auto real = parse_real(value.text()->bytes);  // "42.23" gives 42
  const auto number = real ? truncated(*real) : std::nullopt;
  return number ? Value::whole(*number) : otherwise;
}

Value real(Context&, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_float", .names = {"default"}});
  check_defined(value);
  if (value.real()) return value;
  if (value.whole()) return Value::real(static_cast<double>(*value.whole()));
  const auto number = value.text() ? parse_real(value.text()->bytes) : std::nullopt;
  return number ? Value::real(*number) : a.get(0) ? a.at(0) : Value::real(0);
}

double power_of_ten(long exponent) { return std::pow(10.0, static_cast<double>(exponent)); }

/// Half to even of the number's exact value, as Python's round().
Value rounded_real(double number, long digits) {
  if (std::isnan(number) || std::isinf(number) || digits > 322) return Value::real(number);
  if (digits < -308) return Value::real(std::copysign(0.0, number));
  if (digits < 0) {
    const double scale = power_of_ten(-digits);
    return Value::real(std::nearbyint(number / scale) * scale);
  }
  const int size = std::snprintf(nullptr, 0, "%.*f", static_cast<int>(digits), number);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), number);
  return Value::real(std::strtod(text.c_str(), nullptr));
}

Value rounded_whole(Context& context, Integer number, long digits) {
  if (digits >= 0) return Value::whole(number);
  if (digits < -37) return Value::whole(0);
  Integer unit = 1;
  for (long i = digits; i < 0; ++i) unit *= 10;
  const Value below = apply(context, Operator::floor_divide, Value::whole(number), Value::whole(unit));
  const Integer low = *below.whole(), rest = number - low * unit;
  const bool up = rest * 2 > unit || (rest * 2 == unit && low % 2 != 0);
  return apply(context, Operator::multiply, Value::whole(low + (up ? 1 : 0)), Value::whole(unit));
}

Value round(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "do_round", .names = {"precision", "method"}});
  const Value method = a.get(1) ? a.at(1) : Value::text("common");
  const std::string kind = method.text() ? method.text()->bytes : "";
  check(kind == "common" || kind == "ceil" || kind == "floor", "method must be common, ceil or floor");
  const long digits = a.get(0) ? as_place(a.at(0)) : 0;
  check_defined(value);
  check(value.real() || value.whole(), "type {} doesn't define __round__ method", type_name(value));
  if (kind == "common")
    return value.real() ? rounded_real(*value.real(), digits) : rounded_whole(context, *value.whole(), digits);
  const double scale = power_of_ten(digits);
  const double scaled = (value.real() ? *value.real() : static_cast<double>(*value.whole())) * scale;
  check(std::isfinite(scaled), "cannot convert float {} to integer", std::isnan(scaled) ? "NaN" : "infinity");
  return Value::real((kind == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

}  // namespace

const Filters& number_filters() {
  static const Filters filters = {{"abs", absolute}, {"float", real}, {"int", whole}, {"round", round}};
  return filters;
}

}  // namespace attune::jinja
