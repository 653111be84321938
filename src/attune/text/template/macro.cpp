#include "attune/base/error.h"
#include "attune/text/template/statements.h"
#include "attune/text/template/views.h"

namespace attune::jinja {

namespace {

class Macro : public Object {
 public:
  /// Depth 0: the names that it sees are taken apart at the end of the rendering, whatever they hold.
  Macro(const MacroBody& body, std::shared_ptr<Scope> scope) : Object(0), body_(body), scope_(std::move(scope)) {}

  std::string type_name() const override { return "Macro"; }
  std::string repr(Meter&) const override {
    return body_.name.empty() ? "<Macro anonymous>" : "<Macro " + attune::jinja::repr(body_.name) + ">";
  }
  std::optional<Value> attribute(Context&, std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Context& context, const Call& call) override;

 private:
  void bind(Frame& frame, const Call& call) const;

  const MacroBody& body_;
  std::shared_ptr<Scope> scope_;
};

/// A name that has no value yet: it does not show one that stands outside.
Value missing(const std::string& name) { return Value::undefined(fmt::format("{} is undefined", repr(name))); }

std::optional<Value> Macro::attribute(Context&, std::string_view name) {
  if (name == "name") return body_.name.empty() ? Value() : Value::text(body_.name);
  if (name == "arguments") {
    Items names;
    for (const MacroBody::Parameter& parameter : body_.parameters) names.push_back(Value::text(parameter.name));
    return Value::tuple(std::move(names));
  }
  if (name == "catch_kwargs") return Value::truth(body_.kwargs.has_value());
  if (name == "catch_varargs") return Value::truth(body_.varargs.has_value());
  if (name == "caller") return Value::truth(body_.caller.has_value());
  return {};
}

void Macro::bind(Frame& frame, const Call& call) const {
  const auto& parameters = body_.parameters;
  std::vector<const Value*> given(parameters.size());
  for (std::size_t i = 0; i < parameters.size() && i < call.positional.size(); ++i) given[i] = &call.positional[i];
  const Value* caller = nullptr;
  Dict others;
  for (const auto& [name, value] : call.named) {
    std::size_t place = 0;
    while (place < parameters.size() && parameters[place].name != name) ++place;
    if (place < parameters.size() && place >= call.positional.size()) {
      given[place] = &value;
    } else if (name == "caller" && body_.caller) {
      caller = &value;
    } else {
      check(name != "caller" || body_.kwargs,
            "macro {} was invoked with two values for the special caller argument. This is most likely a bug.",
            attune::jinja::repr(body_.name));
      check(body_.kwargs.has_value(), "macro {} takes no keyword argument {}", attune::jinja::repr(body_.name),
            attune::jinja::repr(name));
      others.set(Value::text(name), value);
    }
  }
  Items more;
  if (call.positional.size() > parameters.size()) {
    check(body_.varargs.has_value(), "macro {} takes not more than {} argument(s)", attune::jinja::repr(body_.name),
          parameters.size());
    more.assign(call.positional.begin() + static_cast<std::ptrdiff_t>(parameters.size()), call.positional.end());
  }
  if (body_.caller)
    frame.scope->set(*body_.caller, caller && !caller->is_none() ? *caller : Value::undefined("No caller defined"));
  if (body_.kwargs) frame.scope->set(*body_.kwargs, Value::dict(std::move(others)));
  if (body_.varargs) frame.scope->set(*body_.varargs, frame.context.tuple(std::move(more)));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    frame.scope->set(parameters[i].id, given[i] ? *given[i] : missing(parameters[i].name));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) continue;
    const MacroBody::Parameter& parameter = parameters[i];
    frame.scope->set(parameter.id, parameter.otherwise
                                       ? parameter.otherwise->evaluate(frame)
                                       : Value::undefined(fmt::format("parameter {} was not provided",
                                                                      attune::jinja::repr(parameter.name))));
  }
}

Value Macro::call(Context& context, const Call& call) {
  Frame frame{context, Scope::inside(scope_), nullptr};
  bind(frame, call);
  const int line = context.line;
  Value text = context.text(text_of(body_.body, frame, frame.scope));
  context.line = line;
  return text;
}

Value make_macro(Frame& frame, const MacroBody& body) {
  frame.scope->capture(frame.context);
  return Value::object(std::make_shared<Macro>(body, frame.scope));
}

}  // namespace

Flow DefineMacro::run(Frame& frame) const {
  frame.scope->set(id_, make_macro(frame, macro_));
  return Flow::next;
}

Flow CallBlock::run(Frame& frame) const {
  const Value caller = make_macro(frame, body_);
  const Value result = call_->call(frame, &caller);
  const std::string text = to_text(result, frame.context);
  check(frame.output->size() + text.size() <= static_cast<std::size_t>(frame.context.limits().output),
        "the template gives more than {} bytes", frame.context.limits().output);
  *frame.output += text;
  return Flow::next;
}

}  // namespace attune::jinja
