#include <algorithm>

#include "attune/text/template/parser.h"

namespace attune::jinja {

namespace {

constexpr int deepest_expression = 300;

std::optional<Comparison> comparison_of(const Token& token) {
  if (token.is("==")) return Comparison::equal;
  if (token.is("!=")) return Comparison::unequal;
  if (token.is("<")) return Comparison::less;
  if (token.is("<=")) return Comparison::less_equal;
  if (token.is(">")) return Comparison::greater;
  if (token.is(">=")) return Comparison::greater_equal;
  return {};
}

}  // namespace

void Parser::check_depth(const Expression& node) const {
  if (node.depth() > deepest_expression)
    fail_here(node.line(), "an expression of more than {} parts within each other", deepest_expression);
}

ExpressionPtr Parser::expression(bool conditionals) {
  Level level(*this);
  return conditionals ? conditional() : logical_or();
}

/// One expression, or several with commas between, which are a tuple.
ExpressionPtr Parser::tuple(bool conditionals, bool in_brackets) {
  const auto at_end = [&] {
    return current().kind == Kind::variable_end || current().kind == Kind::block_end || current().is(")");
  };
  int line = current().line, depth = 0;
  Expressions items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_symbol(",");
    if (at_end()) break;
    items.push_back(expression(conditionals));
    depth = std::max(depth, items.back()->depth());
    if (!current().is(",")) break;
    is_tuple = true;
    line = current().line;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (!is_tuple && !in_brackets) fail_here(current().line, "Expected an expression, got '{}'", described(current()));
  return made<Collection>(line, depth + 1, Collection::Kind::tuple, std::move(items));
}

ExpressionPtr Parser::conditional() {
  int line = current().line;
  const std::size_t known = unknown_.size();
  ExpressionPtr then = logical_or();
  while (skip_name("if")) {
    ExpressionPtr test = logical_or();
    ExpressionPtr otherwise = skip_name("else") ? expression() : nullptr;
    const int depth = std::max({then->depth(), test->depth(), otherwise ? otherwise->depth() : 0}) + 1;
    then = made<Conditional>(line, depth, std::move(test), std::move(then), std::move(otherwise));
    unknown_.resize(known);
    line = current().line;
  }
  return then;
}

ExpressionPtr Parser::logical_or() {
  int line = current().line;
  ExpressionPtr left = logical_and();
  while (skip_name("or")) {
    left = made<Logical>(line, false, std::move(left), logical_and());
    line = current().line;
  }
  return left;
}

ExpressionPtr Parser::logical_and() {
  int line = current().line;
  ExpressionPtr left = negation();
  while (skip_name("and")) {
    left = made<Logical>(line, true, std::move(left), negation());
    line = current().line;
  }
  return left;
}

ExpressionPtr Parser::negation() {
  if (!current().is_name("not")) return comparison();
  Level level(*this);
  const int line = next().line;
  return made<Unary>(line, Unary::Kind::no, negation());
}

ExpressionPtr Parser::comparison() {
  int line = current().line;
  ExpressionPtr first = sum();
  int depth = first->depth();
  Chain::Links links;
  while (true) {
    std::optional<Comparison> found = comparison_of(current());
    if (current().is_name("in")) found = Comparison::in;
    if (current().is_name("not") && look().is_name("in")) {
      found = Comparison::not_in;
      next();
    }
    if (!found) break;
    next();
    links.emplace_back(*found, sum());
    depth = std::max(depth, links.back().second->depth());
    line = current().line;
  }
  if (links.empty()) return first;
  return made<Chain>(line, depth + 1, std::move(first), std::move(links));
}

ExpressionPtr Parser::sum() {
  int line = current().line;
  ExpressionPtr left = concatenation();
  while (current().is("+") || current().is("-")) {
    const Operator op = next().text == "+" ? Operator::add : Operator::subtract;
    left = made<Binary>(line, op, std::move(left), concatenation());
    line = current().line;
  }
  return left;
}

ExpressionPtr Parser::concatenation() {
  const int line = current().line;
  Expressions parts;
  parts.push_back(product());
  int depth = parts[0]->depth();
  while (skip_symbol("~")) {
    parts.push_back(product());
    depth = std::max(depth, parts.back()->depth());
  }
  if (parts.size() == 1) return std::move(parts[0]);
  return made<Concatenation>(line, depth + 1, std::move(parts));
}

ExpressionPtr Parser::product() {
  int line = current().line;
  ExpressionPtr left = power();
  while (current().is("*") || current().is("/") || current().is("//") || current().is("%")) {
    const std::string& symbol = next().text;
    const Operator op = symbol == "*"    ? Operator::multiply
                        : symbol == "/"  ? Operator::divide
                        : symbol == "//" ? Operator::floor_divide
                                         : Operator::modulo;
    left = made<Binary>(line, op, std::move(left), power());
    line = current().line;
  }
  return left;
}

/// From the left, unlike Python's.
ExpressionPtr Parser::power() {
  int line = current().line;
  ExpressionPtr left = unary(true);
  while (skip_symbol("**")) {
    left = made<Binary>(line, Operator::power, std::move(left), unary(true));
    line = current().line;
  }
  return left;
}

ExpressionPtr Parser::unary(bool with_filters) {
  const int line = current().line;
  ExpressionPtr node;
  if (current().is("-") || current().is("+")) {
    Level level(*this);
    const auto kind = next().text == "-" ? Unary::Kind::minus : Unary::Kind::plus;
    node = made<Unary>(line, kind, unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
}

void Parser::note_name(const std::string& name) {
  for (MacroUse& macro : macros_) {
    macro.caller |= name == "caller";
    macro.varargs |= name == "varargs";
    macro.kwargs |= name == "kwargs";
  }
}

ExpressionPtr Parser::primary() {
  const Token& token = current();
  const int line = token.line;
  switch (token.kind) {
    case Kind::name: {
      const std::string name = next().text;
      if (name == "true" || name == "True" || name == "false" || name == "False")
        return made<Constant>(line, Value::truth(name[0] == 't' || name[0] == 'T'));
      if (name == "none" || name == "None") return made<Constant>(line, Value());
      note_name(name);
      return made<Name>(line, names_.id(name), name);
    }
    case Kind::string: {
      std::string text;
      while (current().kind == Kind::string) text += next().text;
      return made<Constant>(line, Value::text(std::move(text)));
    }
    case Kind::integer:
    case Kind::real:
      return made<Constant>(line, next().number);
    default:
      break;
  }
  if (skip_symbol("(")) {
    Level level(*this);
    ExpressionPtr inner = tuple(true, true);
    expect_symbol(")");
    return inner;
  }
  if (token.is("[")) return list();
  if (token.is("{")) return dict();
  fail_here(line, "unexpected '{}'", described(token));
}

ExpressionPtr Parser::list() {
  const int line = next().line;
  Expressions items;
  int depth = 0;
  while (!current().is("]")) {
    if (!items.empty()) expect_symbol(",");
    if (current().is("]")) break;
    items.push_back(expression());
    depth = std::max(depth, items.back()->depth());
  }
  expect_symbol("]");
  return made<Collection>(line, depth + 1, Collection::Kind::list, std::move(items));
}

ExpressionPtr Parser::dict() {
  const int line = next().line;
  DictLiteral::Entries entries;
  int depth = 0;
  while (!current().is("}")) {
    if (!entries.empty()) expect_symbol(",");
    if (current().is("}")) break;
    ExpressionPtr key = expression();
    expect_symbol(":");
    ExpressionPtr value = expression();
    depth = std::max({depth, key->depth(), value->depth()});
    entries.emplace_back(std::move(key), std::move(value));
  }
  expect_symbol("}");
  return made<DictLiteral>(line, depth + 1, std::move(entries));
}

ExpressionPtr Parser::postfix(ExpressionPtr of) {
  while (true) {
    if (current().is("."))
      of = attribute(std::move(of));
    else if (current().is("["))
      of = subscript(std::move(of));
    else if (current().is("("))
      of = calling(std::move(of));
    else
      return of;
  }
}

ExpressionPtr Parser::filters_and_tests(ExpressionPtr of) {
  while (true) {
    if (current().is("|"))
      next(), of = filtering(std::move(of));
    else if (current().is_name("is"))
      of = testing(std::move(of));
    else if (current().is("("))
      of = calling(std::move(of));
    else
      return of;
  }
}

ExpressionPtr Parser::attribute(ExpressionPtr of) {
  const int line = next().line;
  const Token& name = next();
  if (name.kind == Kind::name) return made<Attribute>(line, std::move(of), name.text);
  if (name.kind != Kind::integer) fail_here(name.line, "expected name or number");
  return made<Subscript>(line, std::move(of), made<Constant>(name.line, name.number));
}

ExpressionPtr Parser::subscript(ExpressionPtr of) {
  const int line = next().line;
  Level level(*this);
  const auto bound = [&]() -> ExpressionPtr {
    return current().is(":") || current().is("]") || current().is(",") ? nullptr : expression();
  };
  if (current().is("]")) {
    next();
    return made<Subscript>(line, std::move(of), made<Collection>(line, 1, Collection::Kind::tuple, Expressions()));
  }
  ExpressionPtr first = bound();
  if (skip_symbol(":")) {
    SliceOf::Bounds bounds{.first = std::move(first), .end = bound(), .step = nullptr};
    if (skip_symbol(":")) bounds.step = bound();
    if (!skip_symbol("]")) {
      expect_symbol(",");
      fail_here(line, "several slices at once");
    }
    int depth = of->depth();
    for (const ExpressionPtr* one : {&bounds.first, &bounds.end, &bounds.step})
      if (*one) depth = std::max(depth, (*one)->depth());
    return made<SliceOf>(line, depth + 1, std::move(of), std::move(bounds));
  }
  if (!first) fail_here(current().line, "unexpected '{}'", described(current()));
  if (skip_symbol("]")) {
    return made<Subscript>(line, std::move(of), std::move(first));
  }
  Expressions keys;
  int depth = first->depth();
  keys.push_back(std::move(first));
  while (!current().is("]")) {
    expect_symbol(",");
    keys.push_back(expression());
    depth = std::max(depth, keys.back()->depth());
  }
  expect_symbol("]");
  return made<Subscript>(line, std::move(of),
                         made<Collection>(line, depth + 1, Collection::Kind::tuple, std::move(keys)));
}

ArgumentList Parser::arguments() {
  Level level(*this);
  const int line = next().line;
  ArgumentList list;
  bool comma = false;
  const auto ensure = [&](bool fits) {
    if (!fits) fail_here(line, "invalid syntax for function call expression");
  };
  while (!current().is(")")) {
    if (comma) {
      expect_symbol(",");
      if (current().is(")")) break;
    }
    comma = true;
    if (skip_symbol("*")) {
      ensure(!list.more_positional && !list.more_named);
      list.more_positional = expression();
    } else if (skip_symbol("**")) {
      ensure(!list.more_named);
      list.more_named = expression();
    } else if (current().kind == Kind::name && look().is("=")) {
      ensure(!list.more_named);
      const std::string name = next().text;
      next();
      const bool twice =
          std::any_of(list.named.begin(), list.named.end(), [&](const auto& n) { return n.first == name; });
      if (twice) fail_here(line, "keyword argument repeated: {}", name);
      list.named.emplace_back(name, expression());
    } else {
      ensure(!list.more_positional && !list.more_named && list.named.empty());
      list.positional.push_back(expression());
    }
  }
  expect_symbol(")");
  return list;
}

std::unique_ptr<const Calling> Parser::calling(ExpressionPtr function) {
  const int line = current().line;
  auto node = std::make_unique<const Calling>(line, std::move(function), arguments());
  check_depth(*node);
  return node;
}

std::string Parser::dotted_name() {
  std::string name = expect_name();
  while (skip_symbol(".")) name += "." + expect_name();
  return name;
}

void Parser::note_unknown(const char* kind, const std::string& name, int line) {
  if (!lenient_) unknown_.push_back({fmt::format("No {} named {}.", kind, repr(name)), line});
}

/// Behind "|".
std::unique_ptr<const Filtering> Parser::filtering(ExpressionPtr of) {
  const int line = current().line;
  const std::string name = dotted_name();
  if (!find_filter(name)) note_unknown("filter", name, line);
  ArgumentList list = current().is("(") ? arguments() : ArgumentList();
  auto node = std::make_unique<const Filtering>(line, std::move(of), name, std::move(list));
  check_depth(*node);
  return node;
}

ExpressionPtr Parser::testing(ExpressionPtr of) {
  const int line = next().line;
  const bool negated = skip_name("not");
  const std::string name = dotted_name();
  if (!find_test(name)) note_unknown("test", name, line);
  ArgumentList list;
  const Token& token = current();
  const bool operand = token.kind == Kind::name || token.kind == Kind::string || token.kind == Kind::integer ||
                       token.kind == Kind::real || token.is("[") || token.is("{");
  if (token.is("(")) {
    list = arguments();
  } else if (operand && !token.is_name("else") && !token.is_name("or") && !token.is_name("and")) {
    if (token.is_name("is")) fail_here(token.line, "You cannot chain multiple tests with is");
    list.positional.push_back(postfix(primary()));
  }
  ExpressionPtr node = made<Testing>(line, std::move(of), name, std::move(list));
  return negated ? made<Unary>(line, Unary::Kind::no, std::move(node)) : std::move(node);
}

}  // namespace attune::jinja
