#pragma once

#include "attune/text/template/context.h"

namespace attune::jinja {

/// Python's text % values. Throws Error as Python does where the two do not fit.
Value formatted(Context& context, const Value& format, const Value& values);

/// Python's text.format(...): {}, {0}, {name}, {x.y[z]}, {!r}, {:>8.2f}.
Value format_braces(Context& context, const Value& format, const Call& call);

/// How one value is laid out: Python's "format specification mini-language".
struct Layout {
  std::string fill = " ";  // one character
  char align = 0;          // < > ^ =; 0: as the type has it
  char sign = '-';         // - + or space
  bool alternate = false;  // #
  bool zero = false;
  char grouping = 0;  // , or _
  long width = 0;
  long precision = -1;
  char type = 0;
};

/// A float's digits in a type of printf's: e f g E F G %.
std::string real_digits(double value, const Layout& layout);
/// A whole number's digits in base 2, 8, 10 or 16, with the prefix that `alternate` asks for, without a sign.
std::string whole_digits(Integer value, const Layout& layout);
/// Sign and digits laid out in the width, right-aligned where nothing else is asked for.
std::string laid_out_number(Context& context, std::string_view sign, const std::string& digits, const Layout& layout);
std::string laid_out_text(Context& context, std::string_view text, const Layout& layout);
std::string sign_of(bool negative, const Layout& layout);

/// A text with every character beyond ASCII as \x, \u or \U, as Python's ascii() has it.
std::string ascii_of(const std::string& text);

inline constexpr long widest = 1'000'000;  // of a field, and digits behind a point

}  // namespace attune::jinja
