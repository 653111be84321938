#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attune/text/template/context.h"
#include "attune/text/template/functions.h"
#include "attune/text/template/operators.h"
#include "attune/text/template/scope.h"

/// What a template is parsed to. Each node knows how to evaluate or execute itself.
namespace attune::jinja {

/// Where a node works: the rendering, the names that it sees, and where text goes.
struct Frame {
  Context& context;
  std::shared_ptr<Scope> scope;
  std::string* output;
};

class Expression {
 public:
  Expression(int line, int depth) : line_(line), depth_(depth) {}
  virtual ~Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  Value evaluate(Frame& frame) const {
    frame.context.step();
    Meter::Level level(frame.context);
    return compute(frame);
  }
  int line() const { return line_; }
  int depth() const { return depth_; }  // of expressions within each other

 protected:
  virtual Value compute(Frame& frame) const = 0;
  /// To be called when the operands are evaluated: a fault from here on is this node's.
  void here(Frame& frame) const { frame.context.line = line_; }

 private:
  int line_, depth_;
};
using ExpressionPtr = std::unique_ptr<const Expression>;
using Expressions = std::vector<ExpressionPtr>;

class Constant : public Expression {
 public:
  Constant(int line, Value value) : Expression(line, 1), value_(std::move(value)) {}
  Value compute(Frame&) const override { return value_; }
  const Value& value() const { return value_; }

 private:
  Value value_;
};

class Name : public Expression {
 public:
  Name(int line, NameId id, std::string name) : Expression(line, 1), id_(id), name_(std::move(name)) {}
  Value compute(Frame& frame) const override;

 private:
  NameId id_;
  std::string name_;
};

/// A list or a tuple.
class Collection : public Expression {
 public:
  enum class Kind { list, tuple };
  Collection(int line, int depth, Kind kind, Expressions items)
      : Expression(line, depth), kind_(kind), items_(std::move(items)) {}
  Value compute(Frame& frame) const override;

 private:
  Kind kind_;
  Expressions items_;
};

class DictLiteral : public Expression {
 public:
  using Entries = std::vector<std::pair<ExpressionPtr, ExpressionPtr>>;
  DictLiteral(int line, int depth, Entries entries) : Expression(line, depth), entries_(std::move(entries)) {}
  Value compute(Frame& frame) const override;

 private:
  Entries entries_;
};

class Unary : public Expression {
 public:
  enum class Kind { no, minus, plus };
  Unary(int line, Kind kind, ExpressionPtr of) : Expression(line, of->depth() + 1), kind_(kind), of_(std::move(of)) {}
  Value compute(Frame& frame) const override;

 private:
  Kind kind_;
  ExpressionPtr of_;
};

class Binary : public Expression {
 public:
  Binary(int line, Operator op, ExpressionPtr left, ExpressionPtr right)
      : Expression(line, std::max(left->depth(), right->depth()) + 1),
        op_(op),
        left_(std::move(left)),
        right_(std::move(right)) {}
  Value compute(Frame& frame) const override;

 private:
  Operator op_;
  ExpressionPtr left_, right_;
};

/// "and" and "or": one of the operands.
class Logical : public Expression {
 public:
  Logical(int line, bool both, ExpressionPtr left, ExpressionPtr right)
      : Expression(line, std::max(left->depth(), right->depth()) + 1),
        both_(both),
        left_(std::move(left)),
        right_(std::move(right)) {}
  Value compute(Frame& frame) const override;

 private:
  bool both_;
  ExpressionPtr left_, right_;
};

/// a < b <= c: each operand is evaluated once.
class Chain : public Expression {
 public:
  using Links = std::vector<std::pair<Comparison, ExpressionPtr>>;
  Chain(int line, int depth, ExpressionPtr first, Links links)
      : Expression(line, depth), first_(std::move(first)), links_(std::move(links)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr first_;
  Links links_;
};

/// a ~ b ~ c.
class Concatenation : public Expression {
 public:
  Concatenation(int line, int depth, Expressions parts) : Expression(line, depth), parts_(std::move(parts)) {}
  Value compute(Frame& frame) const override;

 private:
  Expressions parts_;
};

/// a if test else b; `otherwise` may be null.
class Conditional : public Expression {
 public:
  Conditional(int line, int depth, ExpressionPtr test, ExpressionPtr then, ExpressionPtr otherwise)
      : Expression(line, depth), test_(std::move(test)), then_(std::move(then)), otherwise_(std::move(otherwise)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr test_, then_, otherwise_;
};

class Attribute : public Expression {
 public:
  Attribute(int line, ExpressionPtr of, std::string name)
      : Expression(line, of->depth() + 1), of_(std::move(of)), name_(std::move(name)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr of_;
  std::string name_;
};

class Subscript : public Expression {
 public:
  Subscript(int line, ExpressionPtr of, ExpressionPtr key)
      : Expression(line, std::max(of->depth(), key->depth()) + 1), of_(std::move(of)), key_(std::move(key)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr of_, key_;
};

/// x[first:end:step]; each may be null.
class SliceOf : public Expression {
 public:
  struct Bounds {
    ExpressionPtr first, end, step;
  };
  SliceOf(int line, int depth, ExpressionPtr of, Bounds bounds)
      : Expression(line, depth), of_(std::move(of)), bounds_(std::move(bounds)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr of_;
  Bounds bounds_;
};

/// What stands in a call's parentheses.
struct ArgumentList {
  Expressions positional = {};
  std::vector<std::pair<std::string, ExpressionPtr>> named = {};
  ExpressionPtr more_positional = {}, more_named = {};  // *x and **x; null without

  Call evaluate(Frame& frame) const;
  int depth() const;
};

class Calling : public Expression {
 public:
  Calling(int line, ExpressionPtr function, ArgumentList arguments)
      : Expression(line, std::max(function->depth(), arguments.depth()) + 1),
        function_(std::move(function)),
        arguments_(std::move(arguments)) {}
  Value compute(Frame& frame) const override { return call(frame, nullptr); }
  /// With the macro that {% call %} makes of its body, if there is one.
  Value call(Frame& frame, const Value* caller) const;

 private:
  ExpressionPtr function_;
  ArgumentList arguments_;
};

/// value|name(...). Without a value: of {% filter %} and {% set x|name %}, which put theirs in.
class Filtering : public Expression {
 public:
  Filtering(int line, ExpressionPtr of, std::string name, ArgumentList arguments)
      : Expression(line, std::max(of ? of->depth() : 0, arguments.depth()) + 1),
        of_(std::move(of)),
        name_(std::move(name)),
        filter_(find_filter(name_)),
        arguments_(std::move(arguments)) {}
  Value compute(Frame& frame) const override;
  Value apply(Frame& frame, const Value& value) const;

 private:
  ExpressionPtr of_;
  std::string name_;
  Filter filter_;
  ArgumentList arguments_;
};

/// value is name(...).
class Testing : public Expression {
 public:
  Testing(int line, ExpressionPtr of, std::string name, ArgumentList arguments)
      : Expression(line, std::max(of->depth(), arguments.depth()) + 1),
        of_(std::move(of)),
        name_(std::move(name)),
        test_(find_test(name_)),
        arguments_(std::move(arguments)) {}
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr of_;
  std::string name_;
  Test test_;
  ArgumentList arguments_;
};

}  // namespace attune::jinja
