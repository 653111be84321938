#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attune/text/template/value.h"

namespace attune::jinja {

/// A number at the beginning of a text, as Jinja writes them: 12, 1_000, 0x1F, 1.5e-3.
struct NumberLiteral {
  Value value;
  std::size_t size = 0;
  bool too_large = false;
};
std::optional<NumberLiteral> number_literal(std::string_view text, bool real_allowed);

/// What stands between a literal's quotes, its backslash escapes replaced as Python's are. Throws Error.
std::string unescaped(std::string_view literal);

/// Python's int(text, base) and float(text), with spaces around and "_" between digits; nothing where they refuse.
/// int() throws Error beyond 128 bits.
std::optional<Integer> parse_whole(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);

}  // namespace attune::jinja
