#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/template/lexer.h"
#include "attune/text/template/statements.h"

namespace attune::jinja {

/// Statements of a template's tokens, by Jinja's grammar. Every fault is an Error "SOURCE, line N: ..." in Jinja's
/// words.
class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::string& source, Names& names);

  Statements parse();

 private:
  using Kind = Token::Kind;
  using Ends = std::vector<std::string_view>;  // the tags that may end a body

  // Tokens (parse_statements.cpp)
  const Token& current() const { return tokens_[place_]; }
  const Token& look() const { return tokens_[std::min(place_ + 1, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[place_ + 1 < tokens_.size() ? place_++ : place_]; }
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_symbol(std::string_view symbol);
  void expect(Kind kind);
  std::string expect_name();
  [[noreturn]] void fail_expected(std::string_view what) const;
  template <class... Args>
  [[noreturn]] void fail_here(int line, fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(source_, line, format, std::forward<Args>(args)...);
  }
  [[noreturn]] void fail_unknown_tag(const std::string* tag, int line, const Ends* wanted) const;

  /// One level deeper in brackets or bodies, as long as it lives: what is parsed by recursion must not be too deep.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.level_; }

   private:
    Parser& parser_;
  };
  template <class Node, class... Args>
  ExpressionPtr made(Args&&... args) {
    auto node = std::make_unique<const Node>(std::forward<Args>(args)...);
    check_depth(*node);
    return node;
  }
  void check_depth(const Expression& node) const;

  // Statements (parse_statements.cpp)
  Statements until(const Ends& ends);
  /// A body behind a tag's beginning; the tag that ended it, whose name is read.
  Statements body(const Ends& ends, std::string* ended = nullptr);
  /// The same of a part that its statement only runs within a scope of its own.
  Statements scoped_body(const Ends& ends, std::string* ended = nullptr);
  StatementPtr statement();
  StatementPtr statement_of(const std::string& tag);
  StatementPtr parse_if();
  StatementPtr parse_for();
  StatementPtr parse_set();
  StatementPtr parse_macro();
  StatementPtr parse_call();
  StatementPtr parse_filter_block();
  StatementPtr parse_with();
  StatementPtr parse_loop_control();
  void macro_body(MacroBody& macro, const Ends& ends);
  std::vector<MacroBody::Parameter> signature();
  std::vector<std::unique_ptr<const Filtering>> filters(bool begins);
  Target target(bool attributes);
  Target one_target(bool attributes);

  // Expressions (parse_expressions.cpp)
  ExpressionPtr expression(bool conditionals = true);
  ExpressionPtr tuple(bool conditionals, bool in_brackets);
  ExpressionPtr conditional();
  ExpressionPtr logical_or();
  ExpressionPtr logical_and();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr of);
  ExpressionPtr filters_and_tests(ExpressionPtr of);
  ExpressionPtr attribute(ExpressionPtr of);
  ExpressionPtr subscript(ExpressionPtr of);
  std::unique_ptr<const Calling> calling(ExpressionPtr function);
  std::unique_ptr<const Filtering> filtering(ExpressionPtr of);
  ExpressionPtr testing(ExpressionPtr of);
  ArgumentList arguments();
  std::string dotted_name();
  void note_name(const std::string& name);
  void note_unknown(const char* kind, const std::string& name, int line);

  /// A filter or test that there is not: a fault at once, but within {% if %} and conditionals only where it is run.
  struct Unknown {
    std::string message;
    int line;
  };
  /// What the macros around the current place need to be told.
  struct MacroUse {
    bool caller = false, varargs = false, kwargs = false;
  };

  std::vector<Token> tokens_;
  const std::string& source_;
  Names& names_;
  std::size_t place_ = 0;
  int level_ = 0;
  int loops_ = 0;         // around the current place, within its macro
  bool lenient_ = false;  // directly within {% if %}
  std::vector<Unknown> unknown_;
  std::vector<MacroUse> macros_;   // around the current place
  std::vector<std::string> tags_;  // that are open
  std::vector<const Ends*> ends_;  // that the open bodies wait for
};

}  // namespace attune::jinja
