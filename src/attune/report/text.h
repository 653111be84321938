#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attune::report {

/// `text` for HTML or XML, between tags or in a double-quoted attribute: & < > " ' become entities; bytes that are not
/// UTF-8 and control characters that XML 1.0 forbids become U+FFFD. Any input is safe; the result is valid UTF-8.
std::string escaped(std::string_view text);

/// Columns that a terminal with a fixed-width font uses for `text`: 2 for East Asian wide characters and emoji, 0 for
/// combining marks and control characters (Unicode Standard Annex 11), 1 for the rest. A byte that is not UTF-8 counts
/// as 1.
std::int64_t display_width(std::string_view text);

/// `text` if it fits into `width` columns, else its beginning and an ellipsis within `width`; never cuts a code point.
std::string shortened(std::string_view text, std::int64_t width);

/// `text` on one line, for people: control characters are written as in JSON strings (\\n, \\t, \\u001b), all else
/// stays.
std::string on_one_line(std::string_view text);

/// A name for a heading's anchor: lower-case ASCII letters and digits, all else one '-'; "section" where nothing is
/// left.
std::string anchor_name(std::string_view title);

}  // namespace attune::report
