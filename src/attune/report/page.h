#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attune/report/text_table.h"

namespace attune::report {

/// Safe HTML. Made only by the functions below, which escape every text they are given, so that no document's words can
/// become markup.
class Html {
 public:
  Html() = default;
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  Html& operator+=(const Html& more) {
    text_ += more.text_;
    return *this;
  }
  friend Html operator+(Html a, const Html& b) { return a += b; }

 private:
  explicit Html(std::string text) : text_(std::move(text)) {}
  friend struct HtmlWriter;
  std::string text_;
};

/// How a message is meant: its colour, never its only sign.
enum class Tone { good, warn, bad, note };

Html paragraph(std::string_view text);
/// A paragraph of our own words in which **words** are set strong and `words` as code. Everything is escaped first.
Html prose(std::string_view text);
Html lead(std::string_view text);
Html subheading(std::string_view text);
Html list(const std::vector<std::string>& items);  // of prose
Html numbered_list(const std::vector<std::string>& items);
Html code_block(std::string_view code);
/// A document's own text: kept line by line, in a box that scrolls.
Html document_text(std::string_view text);
Html table(const Table& table);  // without a head where no column has a name
/// An <svg> element made by this room's plots, with words under it.
Html figure(const std::string& svg, std::string_view caption = "");
/// Blocks beside each other where the screen is wide enough.
Html columns(const std::vector<Html>& blocks);
Html details(std::string_view summary, const Html& inside);
Html notice(Tone tone, std::string_view text);  // prose
Html tag(Tone tone, std::string_view text);

struct Card {
  std::string name, figure, detail;
};
Html cards(const std::vector<Card>& cards);

/// What the whole page comes down to.
struct Verdict {
  Tone tone = Tone::note;
  std::string word;                // "Ready", "Caution"
  std::string headline;            // one sentence
  std::vector<std::string> lines;  // prose, a paragraph each
};

struct Section {
  std::string title;
  std::string lead;  // what is to be seen here, in a sentence; may be empty
  Html body;
};

/// One file that opens anywhere without a network: style and drawings inside, no scripts. Headings have anchors; a row
/// of links leads to the sections.
struct Page {
  std::string title, subtitle;
  Verdict verdict = {};  // left out where it has no headline
  Html summary = {};     // under the verdict, before the sections
  std::vector<Section> sections = {};
  std::string footer = "";

  std::string html() const;
};

}  // namespace attune::report
