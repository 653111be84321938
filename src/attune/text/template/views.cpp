#include "attune/text/template/views.h"

#include "attune/base/error.h"
#include "attune/text/template/operators.h"

namespace attune::jinja {

namespace {

constexpr Integer most_in_range = 100'000;  // Jinja's sandbox, too

/// The values at places of something that has places, from the last on.
Generator::Body backwards(Value of, std::size_t count) {
  return [of = std::move(of), count](Context& context, Value& to) mutable {
    if (count == 0) return false;
    --count;
    if (of.items())
      to = (*of.items())[count];
    else if (of.dict())
      to = of.dict()->entries()[count].first;
    else if (const auto* view = of.object_of<DictView>())
      to = view->at(context, count);
    else
      to = *of.object()->item(static_cast<Integer>(count));
    return true;
  };
}

}  // namespace

bool Generator::next(Context& context, Value& to) {
  context.step();
  Meter::Level level(context);
  return body_(context, to);
}

Value generator(const Value& source, Generator::Body body) {
  return Value::object(std::make_shared<Generator>(1 + source.depth(), std::move(body)));
}

WholeRange::WholeRange(Integer first, Integer end, Integer step) : first_(first), end_(end), step_(step) {
  check(step != 0, "range() arg 3 must not be zero");
  constexpr Integer most = INT64_MAX;
  check(-most <= first && first <= most && -most <= end && end <= most && -most <= step && step <= most,
        "a range's bound is beyond 64 bits");
  const Integer way = step > 0 ? end - first : first - end, stride = step > 0 ? step : -step;
  count_ = way <= 0 ? 0 : (way + stride - 1) / stride;
  check(count_ <= most_in_range, "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).",
        static_cast<long>(most_in_range));
}

std::string WholeRange::repr(Meter&) const {
  const std::string bounds = digits_of(first_) + ", " + digits_of(end_);
  return step_ == 1 ? "range(" + bounds + ")" : "range(" + bounds + ", " + digits_of(step_) + ")";
}

std::shared_ptr<Iterator> WholeRange::iterate() {
  return std::make_shared<Generator>(
      1,
      [at = first_, left = count_, step = step_](Context&, Value& to) mutable {
        if (left-- <= 0) return false;
        to = Value::whole(at);
        at += step;
        return true;
      },
      "range_iterator");
}

bool WholeRange::operator==(const WholeRange& other) const {
  return count_ == other.count_ && (count_ == 0 || first_ == other.first_) && (count_ <= 1 || step_ == other.step_);
}

std::shared_ptr<WholeRange> WholeRange::part(Integer first, Integer step, Integer count) const {
  const Integer begin = first_ + first * step_, stride = step_ * step;
  return std::make_shared<WholeRange>(begin, begin + count * stride, stride);
}

std::string DictView::type_name() const {
  return kind_ == Kind::keys ? "dict_keys" : kind_ == Kind::values ? "dict_values" : "dict_items";
}

std::string DictView::repr(Meter& meter) const {
  std::string inner;
  for (const auto& [key, value] : dict_.dict()->entries()) {
    if (!inner.empty()) inner += ", ";
    const std::string a = kind_ == Kind::values ? "" : attune::jinja::repr(key, meter);
    const std::string b = kind_ == Kind::keys ? "" : attune::jinja::repr(value, meter);
    inner += kind_ == Kind::items ? "(" + a + ", " + b + ")" : a + b;
  }
  return type_name() + "([" + inner + "])";
}

Value DictView::at(Context& context, std::size_t place) const {
  const auto& [key, value] = dict_.dict()->entries()[place];
  return kind_ == Kind::keys ? key : kind_ == Kind::values ? value : context.tuple({key, value});
}

std::shared_ptr<Iterator> DictView::iterate() {
  auto self = std::static_pointer_cast<DictView>(shared_from_this());
  return std::make_shared<Generator>(
      1 + depth(),
      [self, place = std::size_t{0}](Context& context, Value& to) mutable {
        if (place == self->dict_.dict()->size()) return false;
        to = self->at(context, place++);
        return true;
      },
      "dict_iterator");
}

std::shared_ptr<Iterator> reversed(const Value& value) {
  const bool has_places =
      value.items() || value.dict() || value.object_of<DictView>() || (value.object() && value.object()->has_items());
  if (!has_places) return nullptr;
  const auto count = static_cast<std::size_t>(length_of(value));
  const char* type = value.list()    ? "list_reverseiterator"
                     : value.dict()  ? "dict_reversekeyiterator"
                     : value.tuple() ? "reversed"
                                     : "range_iterator";
  return std::make_shared<Generator>(1 + value.depth(), backwards(value, count), type);
}

bool equal_objects(Context& context, const Value& left, const Value& right) {
  if (left.object() == right.object()) return true;
  const auto *a = left.object_of<WholeRange>(), *b = right.object_of<WholeRange>();
  if (a && b) return *a == *b;
  const auto *keys = left.object_of<DictView>(), *others = right.object_of<DictView>();
  if (!keys || !others || keys->type_name() == "dict_values" || others->type_name() == "dict_values" ||
      keys->length() != others->length())
    return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(*keys->length()); ++i)
    if (!contains(context, right, keys->at(context, i))) return false;
  return true;
}

Value call_value(Context& context, const Value& function, const Call& call) {
  check_defined(function);
  check(function.object() && function.object()->callable(), "'{}' object is not callable", type_name(function));
  Meter::Level level(context);
  return function.shared_object()->call(context, call);
}

}  // namespace attune::jinja
