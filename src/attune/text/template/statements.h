#pragma once

#include "attune/text/template/nodes.h"

namespace attune::jinja {

/// What the statement asks the loop around it to do.
enum class Flow { next, leave_loop, next_item };

class Statement {
 public:
  explicit Statement(int line) : line_(line) {}
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Flow execute(Frame& frame) const {
    frame.context.step();
    Meter::Level level(frame.context);
    return run(frame);
  }
  int line() const { return line_; }

 protected:
  virtual Flow run(Frame& frame) const = 0;
  void here(Frame& frame) const { frame.context.line = line_; }

 private:
  int line_;
};
using StatementPtr = std::unique_ptr<const Statement>;
using Statements = std::vector<StatementPtr>;

Flow execute(const Statements& statements, Frame& frame);
/// The text that they give, in a part of their own.
std::string text_of(const Statements& statements, const Frame& frame, std::shared_ptr<Scope> scope);

/// What an assignment sets: a name, a namespace's attribute, or several of them.
struct Target {
  enum class Kind { name, attribute, several };
  Kind kind = Kind::name;
  int line = 1;
  NameId name = 0;
  std::string attribute = {};
  std::vector<Target> parts = {};

  /// Throws Error where a value does not unpack into as many parts, or the name is no namespace.
  void assign(Frame& frame, const Value& value) const;
};

class TextOutput : public Statement {
 public:
  TextOutput(int line, std::string text) : Statement(line), text_(std::move(text)) {}
  Flow run(Frame& frame) const override;

 private:
  std::string text_;
};

class ValueOutput : public Statement {
 public:
  ValueOutput(int line, ExpressionPtr value) : Statement(line), value_(std::move(value)) {}
  Flow run(Frame& frame) const override;

 private:
  ExpressionPtr value_;
};

class If : public Statement {
 public:
  struct Branch {
    ExpressionPtr test;  // null: else
    Statements body;
  };
  If(int line, std::vector<Branch> branches) : Statement(line), branches_(std::move(branches)) {}
  Flow run(Frame& frame) const override;

 private:
  std::vector<Branch> branches_;
};

/// {% for target in values if test recursive %}body{% else %}otherwise{% endfor %}
class For : public Statement {
 public:
  struct Parts {
    Target target;
    ExpressionPtr values, test;  // test may be null
    bool recursive = false;
    NameId loop = 0;  // the name "loop"
    Statements body = {}, otherwise = {};
  };
  For(int line, Parts parts) : Statement(line), parts_(std::move(parts)) {}
  Flow run(Frame& frame) const override;
  /// The text of the body over other values: what loop(values) gives in a recursive loop.
  std::string repeat(Context& context, const std::shared_ptr<Scope>& outside, const Value& values, int level) const;

 private:
  void over(Frame& frame, const Value& values, int level) const;
  Value chosen(Frame& frame, const Value& values) const;

  Parts parts_;
};

class Set : public Statement {
 public:
  Set(int line, Target target, ExpressionPtr value)
      : Statement(line), target_(std::move(target)), value_(std::move(value)) {}
  Flow run(Frame& frame) const override;

 private:
  Target target_;
  ExpressionPtr value_;
};

/// {% set target %}body{% endset %}; the filters of {% set target|f|g %} in their order.
class SetBlock : public Statement {
 public:
  SetBlock(int line, Target target, std::vector<std::unique_ptr<const Filtering>> filters, Statements body)
      : Statement(line), target_(std::move(target)), filters_(std::move(filters)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  Target target_;
  std::vector<std::unique_ptr<const Filtering>> filters_;
  Statements body_;
};

class FilterBlock : public Statement {
 public:
  FilterBlock(int line, std::vector<std::unique_ptr<const Filtering>> filters, Statements body)
      : Statement(line), filters_(std::move(filters)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  std::vector<std::unique_ptr<const Filtering>> filters_;
  Statements body_;
};

class With : public Statement {
 public:
  using Bindings = std::vector<std::pair<Target, ExpressionPtr>>;
  With(int line, Bindings bindings, Statements body)
      : Statement(line), bindings_(std::move(bindings)), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  Bindings bindings_;
  Statements body_;
};

/// A macro's parameters and body, or those of {% call %}.
struct MacroBody {
  struct Parameter {
    NameId id = 0;
    std::string name = {};
    ExpressionPtr otherwise = {};  // null: none
  };
  std::string name = {};  // empty: of {% call %}
  std::vector<Parameter> parameters = {};
  Statements body = {};
  /// Whether the body speaks of them, and by which number.
  std::optional<NameId> caller = {}, varargs = {}, kwargs = {};
};

class DefineMacro : public Statement {
 public:
  DefineMacro(int line, NameId id, MacroBody macro) : Statement(line), id_(id), macro_(std::move(macro)) {}
  Flow run(Frame& frame) const override;

 private:
  NameId id_;
  MacroBody macro_;
};

class CallBlock : public Statement {
 public:
  CallBlock(int line, MacroBody body, std::unique_ptr<const Calling> call)
      : Statement(line), body_(std::move(body)), call_(std::move(call)) {}
  Flow run(Frame& frame) const override;

 private:
  MacroBody body_;
  std::unique_ptr<const Calling> call_;
};

/// {% generation %}: marks what a model is to write; the text is the body's.
class Generation : public Statement {
 public:
  Generation(int line, Statements body) : Statement(line), body_(std::move(body)) {}
  Flow run(Frame& frame) const override;

 private:
  Statements body_;
};

class LoopControl : public Statement {
 public:
  LoopControl(int line, Flow flow) : Statement(line), flow_(flow) {}
  Flow run(Frame&) const override { return flow_; }

 private:
  Flow flow_;
};

}  // namespace attune::jinja
