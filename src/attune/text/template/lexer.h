#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attune/base/error.h"
#include "attune/text/template/value.h"

namespace attune::jinja {

/// One piece of a template.
struct Token {
  enum class Kind {
    data,
    block_begin,
    block_end,
    variable_begin,
    variable_end,
    name,
    string,
    integer,
    real,
    symbol,
    end
  };
  Kind kind = Kind::end;
  std::string text;  // of data, names, strings; the symbol itself
  Value number = {};
  int line = 1;

  bool is(std::string_view symbol_text) const { return kind == Kind::symbol && text == symbol_text; }
  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

/// "variable_end" and its like as Jinja's messages call them; a name or symbol by its text.
std::string described(const Token& token);

/// Cuts a template as Jinja does with trim_blocks and lstrip_blocks: comments and what "-" strips are gone. Ends with a
/// token `end`. Throws Error "SOURCE, line N: ..." for what is no template.
std::vector<Token> tokenize(std::string_view text, const std::string& source);

template <class... Args>
[[noreturn]] void fail_at(const std::string& source, int line, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format("{}, line {}: {}", source, line, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace attune::jinja
