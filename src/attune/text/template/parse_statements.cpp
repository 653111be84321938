#include <algorithm>

#include "attune/text/template/parser.h"

namespace attune::jinja {

namespace {

constexpr int deepest_nesting = 200;

const std::vector<std::string_view> if_ends = {"elif", "else", "endif"}, else_ends = {"endif"},
                                    for_ends = {"endfor", "else"}, for_else_ends = {"endfor"}, set_ends = {"endset"},
                                    macro_ends = {"endmacro"}, call_ends = {"endcall"}, filter_ends = {"endfilter"},
                                    with_ends = {"endwith"}, generation_ends = {"endgeneration"};

bool is_constant_name(std::string_view name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
}

}  // namespace

Parser::Parser(std::vector<Token> tokens, const std::string& source, Names& names)
    : tokens_(std::move(tokens)), source_(source), names_(names) {}

Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser.level_ > deepest_nesting) {
    --parser.level_;
    parser.fail_here(parser.current().line, "nested deeper than {} levels", deepest_nesting);
  }
}

bool Parser::skip_symbol(std::string_view symbol) {
  if (!current().is(symbol)) return false;
  next();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  next();
  return true;
}

void Parser::fail_expected(std::string_view what) const {
  if (current().kind == Kind::end) fail_here(current().line, "unexpected end of template, expected '{}'.", what);
  fail_here(current().line, "expected token '{}', got '{}'", what, described(current()));
}

void Parser::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) fail_expected(symbol);
}

void Parser::expect(Kind kind) {
  if (current().kind != kind) fail_expected(described(Token{.kind = kind, .text = {}}));
  next();
}

std::string Parser::expect_name() {
  if (current().kind != Kind::name) fail_expected("name");
  return next().text;
}

void Parser::fail_unknown_tag(const std::string* tag, int line, const Ends* wanted) const {
  std::string message = tag ? fmt::format("Encountered unknown tag {}.", repr(*tag)) : "Unexpected end of template.";
  std::vector<const Ends*> all = ends_;
  if (wanted) all.push_back(wanted);
  if (!all.empty()) {
    std::string looking;
    for (std::string_view end : *all.back()) looking += (looking.empty() ? "" : " or ") + repr(end);
    const bool elsewhere = tag && std::any_of(all.begin(), all.end(), [&](const Ends* ends) {
                             return std::find(ends->begin(), ends->end(), *tag) != ends->end();
                           });
    message += elsewhere
                   ? " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " +
                         looking + "."
                   : " Jinja was looking for the following tags: " + looking + ".";
  }
  if (!tags_.empty()) message += fmt::format(" The innermost block that needs to be closed is {}.", repr(tags_.back()));
  fail_here(line, "{}", message);
}

Statements Parser::parse() {
  Statements statements = until({});
  if (!unknown_.empty()) fail_here(unknown_[0].line, "{}", unknown_[0].message);
  return statements;
}

/// Up to a tag whose name is one of `ends`, which is the current token then; or to the end.
Statements Parser::until(const Ends& ends) {
  if (!ends.empty()) ends_.push_back(&ends);
  Statements statements;
  while (current().kind != Kind::end) {
    const Token& token = next();
    if (token.kind == Kind::data) {
      statements.push_back(std::make_unique<TextOutput>(token.line, token.text));
    } else if (token.kind == Kind::variable_begin) {
      const int line = current().line;
      statements.push_back(std::make_unique<ValueOutput>(line, tuple(true, false)));
      expect(Kind::variable_end);
    } else {
      const bool ended =
          current().kind == Kind::name && std::find(ends.begin(), ends.end(), current().text) != ends.end();
      if (ended) break;
      statements.push_back(statement());
      expect(Kind::block_end);
    }
  }
  if (!ends.empty()) ends_.pop_back();
  return statements;
}

Statements Parser::body(const Ends& ends, std::string* ended) {
  Level level(*this);
  skip_symbol(":");
  expect(Kind::block_end);
  Statements statements = until(ends);
  if (current().kind == Kind::end) fail_unknown_tag(nullptr, current().line, &ends);
  const std::string end = next().text;
  if (ended) *ended = end;
  return statements;
}

Statements Parser::scoped_body(const Ends& ends, std::string* ended) {
  const bool lenient = std::exchange(lenient_, false);
  Statements statements = body(ends, ended);
  lenient_ = lenient;
  return statements;
}

StatementPtr Parser::statement() {
  if (current().kind != Kind::name) fail_here(current().line, "tag name expected");
  const std::string tag = current().text;
  tags_.push_back(tag);
  StatementPtr made = statement_of(tag);
  if (!made) {
    tags_.pop_back();
    fail_unknown_tag(&tag, current().line, nullptr);
  }
  tags_.pop_back();
  return made;
}

StatementPtr Parser::statement_of(const std::string& tag) {
  const int line = current().line;
  if (tag == "if") return parse_if();
  if (tag == "for") return parse_for();
  if (tag == "set") return parse_set();
  if (tag == "macro") return parse_macro();
  if (tag == "call") return parse_call();
  if (tag == "filter") return parse_filter_block();
  if (tag == "with") return parse_with();
  if (tag == "break" || tag == "continue") return parse_loop_control();
  if (tag == "generation") {
    next();
    const int loops = std::exchange(loops_, 0);  // its body is a function of its own to Jinja
    auto made = std::make_unique<Generation>(line, scoped_body(generation_ends));
    loops_ = loops;
    return made;
  }
  for (const char* other : {"block", "extends", "include", "import", "from", "autoescape", "print"})
    if (tag == other) fail_here(line, "the tag '{}' is not supported: a chat template is one file of plain text", tag);
  return nullptr;
}

StatementPtr Parser::parse_if() {
  const int line = next().line;
  const bool lenient = std::exchange(lenient_, true);
  std::vector<If::Branch> branches;
  std::string ended;
  do {
    ExpressionPtr test = tuple(false, false);
    branches.push_back({std::move(test), body(if_ends, &ended)});
  } while (ended == "elif");
  if (ended == "else") branches.push_back({nullptr, body(else_ends)});
  lenient_ = lenient;
  return std::make_unique<If>(line, std::move(branches));
}

StatementPtr Parser::parse_for() {
  const int line = next().line;
  ++loops_;  // no target may be called "loop"
  For::Parts parts{.target = target(false), .values = nullptr, .test = nullptr};
  --loops_;
  if (!skip_name("in")) fail_expected("in");
  parts.values = tuple(false, false);
  const bool lenient = std::exchange(lenient_, false);
  if (skip_name("if")) parts.test = expression();
  parts.recursive = skip_name("recursive");
  parts.loop = names_.id("loop");
  std::string ended;
  ++loops_;
  parts.body = scoped_body(for_ends, &ended);
  --loops_;
  if (ended == "else") parts.otherwise = scoped_body(for_else_ends);
  lenient_ = lenient;
  return std::make_unique<For>(line, std::move(parts));
}

StatementPtr Parser::parse_set() {
  const int line = next().line;
  Target to = target(true);
  if (skip_symbol("=")) return std::make_unique<Set>(line, std::move(to), tuple(true, false));
  auto filter_list = filters(false);
  return std::make_unique<SetBlock>(line, std::move(to), std::move(filter_list), scoped_body(set_ends));
}

StatementPtr Parser::parse_filter_block() {
  const int line = next().line;
  auto filter_list = filters(true);
  return std::make_unique<FilterBlock>(line, std::move(filter_list), scoped_body(filter_ends));
}

/// "|a|b", or "a|b" where that begins the tag's content.
std::vector<std::unique_ptr<const Filtering>> Parser::filters(bool begins) {
  std::vector<std::unique_ptr<const Filtering>> all;
  const bool lenient = std::exchange(lenient_, false);
  while (begins || skip_symbol("|")) {
    all.push_back(filtering(nullptr));
    begins = false;
  }
  lenient_ = lenient;
  return all;
}

std::vector<MacroBody::Parameter> Parser::signature() {
  std::vector<MacroBody::Parameter> parameters;
  expect_symbol("(");
  while (!current().is(")")) {
    if (!parameters.empty()) expect_symbol(",");
    const int line = current().line;
    MacroBody::Parameter parameter{.id = 0, .name = expect_name()};
    if (is_constant_name(parameter.name)) fail_here(line, "can't assign to 'name'");
    for (const MacroBody::Parameter& other : parameters)
      if (other.name == parameter.name) fail_here(line, "duplicate argument '{}' in function definition", other.name);
    parameter.id = names_.id(parameter.name);
    if (skip_symbol("="))
      parameter.otherwise = expression();
    else if (!parameters.empty() && parameters.back().otherwise)
      fail_here(current().line, "non-default argument follows default argument");
    parameters.push_back(std::move(parameter));
  }
  expect_symbol(")");
  return parameters;
}

void Parser::macro_body(MacroBody& macro, const Ends& ends) {
  const int loops = std::exchange(loops_, 0);
  macros_.emplace_back();
  macro.body = scoped_body(ends);
  const MacroUse use = macros_.back();
  macros_.pop_back();
  loops_ = loops;
  const auto special = [&](bool used, const char* name) -> std::optional<NameId> {
    const auto named = [&](const MacroBody::Parameter& parameter) { return parameter.name == name; };
    if (!used || std::any_of(macro.parameters.begin(), macro.parameters.end(), named)) return {};
    return names_.id(name);
  };
  macro.caller = special(use.caller, "caller");
  macro.varargs = special(use.varargs, "varargs");
  macro.kwargs = special(use.kwargs, "kwargs");
}

StatementPtr Parser::parse_macro() {
  const int line = next().line;
  MacroBody macro{.name = expect_name()};
  if (is_constant_name(macro.name)) fail_here(line, "can't assign to 'name'");
  const NameId id = names_.id(macro.name);
  macro.parameters = signature();
  macro_body(macro, macro_ends);
  return std::make_unique<DefineMacro>(line, id, std::move(macro));
}

StatementPtr Parser::parse_call() {
  const int line = next().line;
  MacroBody macro;
  if (current().is("(")) macro.parameters = signature();
  // The call itself stands behind what it needs to be: an expression that ends in a call.
  ExpressionPtr whole = expression();
  const auto* call = dynamic_cast<const Calling*>(whole.get());
  if (!call) fail_here(line, "expected call");
  (void)whole.release();
  std::unique_ptr<const Calling> owned(call);
  macro_body(macro, call_ends);
  return std::make_unique<CallBlock>(line, std::move(macro), std::move(owned));
}

StatementPtr Parser::parse_with() {
  const int line = next().line;
  With::Bindings bindings;
  const bool lenient = lenient_;
  while (current().kind != Kind::block_end) {
    if (!bindings.empty()) expect_symbol(",");
    Target to = target(false);
    expect_symbol("=");
    bindings.emplace_back(std::move(to), expression());
  }
  lenient_ = lenient;
  return std::make_unique<With>(line, std::move(bindings), scoped_body(with_ends));
}

StatementPtr Parser::parse_loop_control() {
  const Token& token = next();
  if (loops_ == 0) fail_here(token.line, "'{}' outside of a loop", token.text);
  return std::make_unique<LoopControl>(token.line, token.text == "break" ? Flow::leave_loop : Flow::next_item);
}

Target Parser::one_target(bool attributes) {
  const int line = current().line;
  if (skip_symbol("(")) {
    Level level(*this);
    Target inner = target(false);
    expect_symbol(")");
    return inner;
  }
  if (current().kind != Kind::name) {
    const bool constant =
        current().kind == Kind::string || current().kind == Kind::integer || current().kind == Kind::real;
    if (constant) fail_here(line, "can't assign to 'const'");
    if (current().is("[") || current().is("{"))
      fail_here(line, "can't assign to '{}'", current().is("[") ? "list" : "dict");
    fail_here(line, "unexpected '{}'", described(current()));
  }
  const std::string name = next().text;
  if (is_constant_name(name)) fail_here(line, "can't assign to 'const'");
  if (name == "loop" && loops_ > 0) fail_here(line, "Can't assign to special loop variable in for-loop target");
  Target to{.kind = Target::Kind::name, .line = line, .name = names_.id(name)};
  if (!attributes || !skip_symbol(".")) return to;
  to.kind = Target::Kind::attribute;
  to.attribute = expect_name();
  return to;
}

/// Names with commas between are several targets.
Target Parser::target(bool attributes) {
  Target all{.kind = Target::Kind::several, .line = current().line};
  bool several = false;
  while (true) {
    if (!all.parts.empty()) expect_symbol(",");
    if (current().kind == Kind::block_end || current().kind == Kind::variable_end || current().is(")")) break;
    all.parts.push_back(one_target(attributes));
    if (!current().is(",")) break;
    several = true;
  }
  if (several) return all;
  if (all.parts.empty()) fail_here(current().line, "Expected an expression, got '{}'", described(current()));
  return std::move(all.parts[0]);
}

}  // namespace attune::jinja
