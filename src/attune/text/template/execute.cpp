#include "attune/base/error.h"
#include "attune/text/template/globals.h"
#include "attune/text/template/statements.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

void write(Frame& frame, std::string_view text) {
  frame.context.make(text.size());
  check(frame.output->size() + text.size() <= static_cast<std::size_t>(frame.context.limits().output),
        "the template gives more than {} bytes: use another template, or a shorter conversation",
        frame.context.limits().output);
  *frame.output += text;
}

Value filtered(Frame& frame, const std::vector<std::unique_ptr<const Filtering>>& filters, std::string text) {
  Value value = frame.context.text(std::move(text));
  for (const auto& filter : filters) value = filter->apply(frame, value);
  return value;
}

}  // namespace

Flow execute(const Statements& statements, Frame& frame) {
  for (const StatementPtr& statement : statements)
    if (const Flow flow = statement->execute(frame); flow != Flow::next) return flow;
  return Flow::next;
}

std::string text_of(const Statements& statements, const Frame& frame, std::shared_ptr<Scope> scope) {
  std::string text;
  Frame inner{frame.context, std::move(scope), &text};
  execute(statements, inner);
  return text;
}

void Target::assign(Frame& frame, const Value& value) const {
  if (kind == Kind::name) return frame.scope->set(name, value);
  frame.context.line = line;
  if (kind == Kind::attribute) {
    const Value* found = frame.scope->find(name);
    auto* to = found ? found->object_of<Namespace>() : nullptr;
    check(to != nullptr, "cannot assign attribute on non-namespace object");
    return to->set(frame.context, attribute, value);
  }
  check_defined(value);
  const bool iterable = value.text() || value.items() || value.dict() || (value.object() && value.object()->iterate());
  check(iterable, "cannot unpack non-iterable {} object", type_name(value));
  std::shared_ptr<Iterator> all = iterate(value);
  Items items;
  for (Value item; items.size() <= parts.size() && all->next(frame.context, item);) items.push_back(item);
  check(items.size() <= parts.size(), "too many values to unpack (expected {})", parts.size());
  check(items.size() == parts.size(), "not enough values to unpack (expected {}, got {})", parts.size(), items.size());
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].assign(frame, items[i]);
}

Flow TextOutput::run(Frame& frame) const {
  here(frame);
  write(frame, text_);
  return Flow::next;
}

Flow ValueOutput::run(Frame& frame) const {
  const Value value = value_->evaluate(frame);
  here(frame);
  write(frame, value.text() ? value.text()->bytes : to_text(value, frame.context));
  return Flow::next;
}

Flow If::run(Frame& frame) const {
  for (const Branch& branch : branches_)
    if (!branch.test || is_true(branch.test->evaluate(frame))) return attune::jinja::execute(branch.body, frame);
  return Flow::next;
}

Flow Set::run(Frame& frame) const {
  const Value value = value_->evaluate(frame);
  here(frame);
  target_.assign(frame, value);
  return Flow::next;
}

Flow SetBlock::run(Frame& frame) const {
  Frame inner{frame.context, Scope::inside(frame.scope), nullptr};
  const Value value = filtered(inner, filters_, text_of(body_, frame, inner.scope));
  here(frame);
  target_.assign(frame, value);
  return Flow::next;
}

Flow FilterBlock::run(Frame& frame) const {
  Frame inner{frame.context, Scope::inside(frame.scope), nullptr};
  const Value value = filtered(inner, filters_, text_of(body_, frame, inner.scope));
  here(frame);
  write(frame, to_text(value, frame.context));
  return Flow::next;
}

Flow With::run(Frame& frame) const {
  Frame inner{frame.context, Scope::inside(frame.scope), frame.output};
  for (const auto& [target, value] : bindings_) target.assign(inner, value->evaluate(frame));
  return attune::jinja::execute(body_, inner);
}

Flow Generation::run(Frame& frame) const {
  write(frame, text_of(body_, frame, Scope::inside(frame.scope)));
  return Flow::next;
}

}  // namespace attune::jinja
