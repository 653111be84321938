#include "attune/text/template/loop.h"

#include "attune/base/error.h"
#include "attune/text/template/arguments.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

Loop::Loop(Value values, int level, Repeats repeats)
    : Object(1 + values.depth()),
      values_(std::move(values)),
      iterator_(attune::jinja::iterate(values_)),
      level_(level),
      repeats_(std::move(repeats)) {
  if (!values_.object_of<Iterator>()) length_ = length_of(values_);
}

bool Loop::next(Context& context, Value& to) {
  if (!peek(context)) return false;
  ++index_;
  before_ = std::move(current_);
  current_ = std::move(*after_);
  after_.reset();
  to = *current_;
  return true;
}

bool Loop::peek(Context& context) {
  if (after_) return true;
  Value item;
  if (!iterator_->next(context, item)) return false;
  after_ = std::move(item);
  return true;
}

Integer Loop::count(Context& context) {
  if (!length_) {
    Items rest;
    for (Value item; iterator_->next(context, item);) {
      context.make(sizeof(Value));
      rest.push_back(std::move(item));
    }
    length_ = static_cast<Integer>(rest.size()) + index_ + 1 + (after_ ? 1 : 0);
    iterator_ = attune::jinja::iterate(Value::list(std::move(rest)));
  }
  return *length_;
}

Value Loop::cycle(const Call& call) const {
  check(!call.positional.empty(), "no items for cycling given");
  return call.positional[static_cast<std::size_t>(index_) % call.positional.size()];
}

bool Loop::changed(Context& context, const Call& call) {
  const bool same = last_changed_ && last_changed_->size() == call.positional.size() &&
                    std::equal(last_changed_->begin(), last_changed_->end(), call.positional.begin(),
                               [&](const Value& a, const Value& b) { return equal(context, a, b); });
  if (!same) {
    if (!last_changed_) context.keep(std::static_pointer_cast<Loop>(shared_from_this()));
    last_changed_ = call.positional;
  }
  return !same;
}

std::optional<Value> Loop::attribute(Context& context, std::string_view name) {
  if (name == "index") return Value::whole(index_ + 1);
  if (name == "index0") return Value::whole(index_);
  if (name == "first") return Value::truth(index_ == 0);
  if (name == "last") return Value::truth(!peek(context));
  if (name == "length") return Value::whole(count(context));
  if (name == "revindex") return Value::whole(count(context) - index_);
  if (name == "revindex0") return Value::whole(count(context) - index_ - 1);
  if (name == "depth") return Value::whole(level_ + 1);
  if (name == "depth0") return Value::whole(level_);
  if (name == "previtem") return before_ ? *before_ : Value::undefined("there is no previous item");
  if (name == "nextitem") return peek(context) ? *after_ : Value::undefined("there is no next item");
  if (name == "cycle" || name == "changed") {
    auto self = std::static_pointer_cast<Loop>(shared_from_this());
    const bool cycles = name == "cycle";
    return Value::object(std::make_shared<Function>(
        std::string(name),
        [self, cycles](Context& c, const Call& call) {
          return cycles ? self->cycle(call) : Value::truth(self->changed(c, call));
        },
        1 + depth()));
  }
  return {};
}

Value Loop::call(Context& context, const Call& call) {
  check(repeats_.statement != nullptr, "The loop must have the 'recursive' marker to be called recursively.");
  const Arguments a(call, {.function = "loop", .names = {"iterable"}, .required = 1});
  return context.text(repeats_.statement->repeat(context, repeats_.outside, a.at(0), level_ + 1));
}

/// The values that pass the test, made one by one.
Value For::chosen(Frame& frame, const Value& values) const {
  if (!parts_.test) return values;
  frame.scope->capture(frame.context);
  auto inside = Scope::inside(frame.scope);
  inside->capture(frame.context);
  auto body = [this, inside, all = iterate(values)](Context& context, Value& to) {
    Frame inner{context, inside, nullptr};
    for (Value item; all->next(context, item);) {
      inside->clear();
      parts_.target.assign(inner, item);
      if (!is_true(parts_.test->evaluate(inner))) continue;
      to = std::move(item);
      return true;
    }
    return false;
  };
  return generator(values, std::move(body));
}

void For::over(Frame& frame, const Value& values, int level) const {
  const Loop::Repeats repeats = parts_.recursive ? Loop::Repeats{this, frame.scope} : Loop::Repeats{};
  if (parts_.recursive) frame.scope->capture(frame.context);
  auto loop = std::make_shared<Loop>(chosen(frame, values), level, repeats);
  Frame inner{frame.context, Scope::inside(frame.scope), frame.output};
  bool none = true;  // of the values had its body done to the end: break and continue do not count, as in Jinja
  for (Value item; loop->next(frame.context, item);) {
    frame.context.step();
    if (inner.scope->captured())
      inner.scope = Scope::inside(frame.scope);
    else
      inner.scope->clear();
    inner.scope->set(parts_.loop, Value::object(loop));
    parts_.target.assign(inner, item);
    const Flow flow = attune::jinja::execute(parts_.body, inner);
    if (flow == Flow::leave_loop) break;
    if (flow == Flow::next) none = false;
    here(frame);  // what takes the next item
  }
  if (!none || parts_.otherwise.empty()) return;
  Frame other{frame.context, Scope::inside(frame.scope), frame.output};
  attune::jinja::execute(parts_.otherwise, other);
}

Flow For::run(Frame& frame) const {
  const Value values = parts_.values->evaluate(frame);
  here(frame);
  over(frame, values, 0);
  return Flow::next;
}

std::string For::repeat(Context& context, const std::shared_ptr<Scope>& outside, const Value& values, int level) const {
  std::string text;
  Frame frame{context, outside, &text};
  over(frame, values, level);
  return text;
}

}  // namespace attune::jinja
