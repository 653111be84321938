#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/characters.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/text_methods.h"

namespace attune::jinja {

namespace {

void alone(const Call& call) { Arguments(call, {.function = "test", .names = {}}); }

template <bool (*is)(const Value&)>
bool plain(Context&, const Value& value, const Call& call) {
  alone(call);
  return is(value);
}

bool is_defined(const Value& value) { return !value.undefined(); }
bool is_undefined(const Value& value) { return value.undefined() != nullptr; }
bool is_none(const Value& value) { return value.is_none(); }
bool is_boolean(const Value& value) { return value.boolean() != nullptr; }
bool is_true_itself(const Value& value) { return value.boolean() && *value.boolean(); }
bool is_false_itself(const Value& value) { return value.boolean() && !*value.boolean(); }
bool is_integer(const Value& value) { return value.integer() != nullptr; }
bool is_float(const Value& value) { return value.real() != nullptr; }
bool is_number(const Value& value) { return value.whole() || value.real(); }
bool is_string(const Value& value) { return value.text() != nullptr; }
bool is_mapping(const Value& value) { return value.dict() != nullptr; }
bool is_escaped(const Value& value) { return value.text() && value.text()->markup; }
bool is_callable(const Value& value) { return value.undefined() || (value.object() && value.object()->callable()); }
bool is_iterable(const Value& value) {
  return value.text() || value.items() || value.dict() || value.undefined() ||
         (value.object() && value.object()->iterate() != nullptr);
}
bool is_sequence(const Value& value) {
  return value.text() || value.items() || value.dict() || value.undefined() ||
         (value.object() && value.object()->has_items());
}

template <int remainder>
bool modulo_two(Context& context, const Value& value, const Call& call) {
  alone(call);
  return equal(context, apply(context, Operator::modulo, value, Value::whole(2)), Value::whole(remainder));
}

bool is_divisible(Context& context, const Value& value, const Call& call) {
  const Arguments a(call, {.function = "test_divisibleby", .names = {"num"}, .required = 1});
  return equal(context, apply(context, Operator::modulo, value, a.at(0)), Value::whole(0));
}

template <bool (*wrong)(char32_t), bool (*right)(char32_t)>
bool in_one_case(Context& context, const Value& value, const Call& call) {
  alone(call);
  return in_case(context, to_text(value, context), wrong, right);
}

bool is_same(Context&, const Value& value, const Call& call) {
  return value.same_as(Arguments(call, {.function = "test_sameas", .names = {"other"}, .required = 1}).at(0));
}

template <Comparison comparison>
bool compares(Context& context, const Value& value, const Call& call) {
  return compare(context, comparison, value,
                 Arguments(call, {.function = "test", .names = {"seq"}, .required = 1}).at(0));
}

bool is_filter(Context&, const Value& value, const Call& call) {
  alone(call);
  return value.text() && find_filter(value.text()->bytes) != nullptr;
}

bool is_test(Context&, const Value& value, const Call& call) {
  alone(call);
  return value.text() && find_test(value.text()->bytes) != nullptr;
}

}  // namespace

Test find_test(std::string_view name) {
  static const std::map<std::string_view, Test> tests = {
      {"!=", compares<Comparison::unequal>},
      {"<", compares<Comparison::less>},
      {"<=", compares<Comparison::less_equal>},
      {"==", compares<Comparison::equal>},
      {">", compares<Comparison::greater>},
      {">=", compares<Comparison::greater_equal>},
      {"boolean", plain<is_boolean>},
      {"callable", plain<is_callable>},
      {"defined", plain<is_defined>},
      {"divisibleby", is_divisible},
      {"eq", compares<Comparison::equal>},
      {"equalto", compares<Comparison::equal>},
      {"escaped", plain<is_escaped>},
      {"even", modulo_two<0>},
      {"false", plain<is_false_itself>},
      {"filter", is_filter},
      {"float", plain<is_float>},
      {"ge", compares<Comparison::greater_equal>},
      {"greaterthan", compares<Comparison::greater>},
      {"gt", compares<Comparison::greater>},
      {"in", compares<Comparison::in>},
      {"integer", plain<is_integer>},
      {"iterable", plain<is_iterable>},
      {"le", compares<Comparison::less_equal>},
      {"lessthan", compares<Comparison::less>},
      {"lower", in_one_case<is_upper, is_lower>},
      {"lt", compares<Comparison::less>},
      {"mapping", plain<is_mapping>},
      {"ne", compares<Comparison::unequal>},
      {"none", plain<is_none>},
      {"number", plain<is_number>},
      {"odd", modulo_two<1>},
      {"sameas", is_same},
      {"sequence", plain<is_sequence>},
      {"string", plain<is_string>},
      {"test", is_test},
      {"true", plain<is_true_itself>},
      {"undefined", plain<is_undefined>},
      {"upper", in_one_case<is_lower, is_upper>},
  };
  const auto found = tests.find(name);
  return found == tests.end() ? nullptr : found->second;
}

}  // namespace attune::jinja
