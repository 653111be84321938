#include "attune/base/error.h"
#include "attune/text/template/nodes.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

Value Name::compute(Frame& frame) const {
  const Value* found = frame.scope->find(id_);
  return found ? *found : Value::undefined(fmt::format("{} is undefined", repr(name_)));
}

Value Collection::compute(Frame& frame) const {
  Items items;
  items.reserve(items_.size());
  for (const ExpressionPtr& item : items_) items.push_back(item->evaluate(frame));
  here(frame);
  return kind_ == Kind::list ? frame.context.list(std::move(items)) : frame.context.tuple(std::move(items));
}

Value DictLiteral::compute(Frame& frame) const {
  Dict dict;
  for (const auto& [key, value] : entries_) {
    const Value name = key->evaluate(frame);
    Value held = value->evaluate(frame);
    here(frame);
    frame.context.make(2 * sizeof(Value));
    dict.set(name, std::move(held));
  }
  return Value::dict(std::move(dict));
}

Value Unary::compute(Frame& frame) const {
  const Value value = of_->evaluate(frame);
  here(frame);
  if (kind_ == Kind::no) return Value::truth(!is_true(value));
  return kind_ == Kind::minus ? negative(value) : positive(value);
}

Value Binary::compute(Frame& frame) const {
  const Value left = left_->evaluate(frame), right = right_->evaluate(frame);
  here(frame);
  return apply(frame.context, op_, left, right);
}

Value Logical::compute(Frame& frame) const {
  Value left = left_->evaluate(frame);
  return is_true(left) == both_ ? right_->evaluate(frame) : left;
}

Value Chain::compute(Frame& frame) const {
  Value left = first_->evaluate(frame);
  for (const auto& [comparison, operand] : links_) {
    Value right = operand->evaluate(frame);
    here(frame);
    if (!compare(frame.context, comparison, left, right)) return Value::truth(false);
    left = std::move(right);
  }
  return Value::truth(true);
}

Value Concatenation::compute(Frame& frame) const {
  std::string text;
  for (const ExpressionPtr& part : parts_) {
    const Value value = part->evaluate(frame);
    here(frame);
    if (value.text()) {
      frame.context.make(value.text()->bytes.size());
      text += value.text()->bytes;
    } else {
      text += to_text(value, frame.context);
    }
  }
  return Value::text(std::move(text));
}

Value Conditional::compute(Frame& frame) const {
  if (is_true(test_->evaluate(frame))) return then_->evaluate(frame);
  if (otherwise_) return otherwise_->evaluate(frame);
  return Value::undefined(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was defined.", line()));
}

Value Attribute::compute(Frame& frame) const {
  const Value of = of_->evaluate(frame);
  here(frame);
  return get_attribute(frame.context, of, name_);
}

Value Subscript::compute(Frame& frame) const {
  const Value of = of_->evaluate(frame), key = key_->evaluate(frame);
  here(frame);
  return get_item(frame.context, of, key);
}

Value SliceOf::compute(Frame& frame) const {
  const Value of = of_->evaluate(frame);
  const auto bound = [&](const ExpressionPtr& at) { return at ? at->evaluate(frame) : Value(); };
  const Slice slice{bound(bounds_.first), bound(bounds_.end), bound(bounds_.step)};
  here(frame);
  return get_slice(frame.context, of, slice);
}

int ArgumentList::depth() const {
  int deepest = 0;
  const auto count = [&](const ExpressionPtr& one) { deepest = std::max(deepest, one ? one->depth() : 0); };
  for (const ExpressionPtr& one : positional) count(one);
  for (const auto& [name, one] : named) count(one);
  count(more_positional);
  count(more_named);
  return deepest;
}

Call ArgumentList::evaluate(Frame& frame) const {
  Call call;
  for (const ExpressionPtr& one : positional) call.positional.push_back(one->evaluate(frame));
  if (more_positional) {
    Items more = items_of(frame.context, more_positional->evaluate(frame));
    call.positional.insert(call.positional.end(), more.begin(), more.end());
  }
  for (const auto& [name, one] : named) call.named.emplace_back(name, one->evaluate(frame));
  if (more_named) {
    const Value more = more_named->evaluate(frame);
    check(more.dict() != nullptr, "argument after ** must be a mapping, not {}", type_name(more));
    for (const auto& [name, value] : more.dict()->entries()) {
      check(name.text() != nullptr, "keywords must be strings");
      frame.context.make(name.text()->bytes.size() + sizeof(Value));
      for (const auto& [other, unused] : call.named)
        check(other != name.text()->bytes, "got multiple values for keyword argument '{}'", other);
      call.named.emplace_back(name.text()->bytes, value);
    }
  }
  return call;
}

Value Calling::call(Frame& frame, const Value* caller) const {
  const Value function = function_->evaluate(frame);
  Call call = arguments_.evaluate(frame);
  if (caller) call.named.emplace_back("caller", *caller);
  here(frame);
  return call_value(frame.context, function, call);
}

Value Filtering::apply(Frame& frame, const Value& value) const {
  const Call call = arguments_.evaluate(frame);
  here(frame);
  check(filter_ != nullptr, "No filter named {} found.", repr(name_));
  return filter_(frame.context, value, call);
}

Value Filtering::compute(Frame& frame) const { return apply(frame, of_->evaluate(frame)); }

Value Testing::compute(Frame& frame) const {
  const Value value = of_->evaluate(frame);
  const Call call = arguments_.evaluate(frame);
  here(frame);
  check(test_ != nullptr, "No test named {} found.", repr(name_));
  return Value::truth(test_(frame.context, value, call));
}

}  // namespace attune::jinja
