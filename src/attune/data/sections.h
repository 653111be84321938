#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// A part of a text that belongs together, in bytes: [begin, end).
struct Section {
  std::size_t begin, end;
  std::string_view heading;  // without "#", ":" and spaces; empty where the section has none; points into the text
};

/// Cuts a text into its sections. A section begins at a heading, or at a block behind a blank line. Headings are lines
/// that
///   - begin with one to six "#" and a space (Markdown),
///   - begin with a capital and have a colon behind at most 6 words and 60 bytes, followed by a space or the line's end
///     ("HISTORY:", "Medications: aspirin"), or
///   - hold no lower-case ASCII letter but at least 4 capitals, in at most 80 bytes (an all-capitals line).
/// A block that follows a line with nothing but a heading belongs to it, blank line or not. Sections are in order and
/// cover the text without gaps; an empty text has none.
std::vector<Section> find_sections(std::string_view text);

/// Where the sentences of a text begin, in bytes: at 0, behind . ! ? (and closing quotes or brackets) with white space
/// after them, behind their CJK forms, and at every line. A cut for splitting what is too long, not a linguist's: "Dr.
/// Smith" is two.
std::vector<std::size_t> find_sentences(std::string_view text);

}  // namespace attune
