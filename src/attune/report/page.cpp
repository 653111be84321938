#include "attune/report/page.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "attune/report/style.h"
#include "attune/report/text.h"

namespace attune::report {

/// The one maker of Html from text that is known to be escaped.
struct HtmlWriter {
  static Html safe(std::string text) { return Html(std::move(text)); }
};

namespace {

Html safe(std::string text) { return HtmlWriter::safe(std::move(text)); }

/// The element that begins at `at` of an escaped text and the text inside it; an empty name where none begins there.
struct Marked {
  const char* element = "";
  std::string_view inside;
  std::size_t behind = 0;
};

Marked marked_at(std::string_view text, std::size_t at) {
  for (const auto& [mark, element] : {std::pair<std::string_view, const char*>{"**", "strong"}, {"`", "code"}}) {
    if (text.substr(at, mark.size()) != mark) continue;
    const std::size_t begin = at + mark.size(), end = text.find(mark, begin);
    if (end != std::string_view::npos && end > begin)
      return {element, text.substr(begin, end - begin), end + mark.size()};
  }
  return {};
}

/// Escapes, then sets **words** strong and `words` as code. One kind never lies in the other, so elements always nest.
std::string marked_up(std::string_view words) {
  const std::string text = escaped(words);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Marked marked = marked_at(text, at);
    if (*marked.element) {
      out += fmt::format("<{0}>{1}</{0}>", marked.element, marked.inside);
      at = marked.behind;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string items(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += "<li>" + marked_up(text) + "</li>\n";
  return out;
}

const char* name(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::warn:
      return "warn";
    case Tone::bad:
      return "bad";
    case Tone::note:
      return "note";
  }
  return "note";
}

std::string cell(const char* element, const Column& column, const std::string& text) {
  const char* align = column.align == Align::right ? " class=\"r\"" : "";
  return fmt::format("<{0}{1}>{2}</{0}>", element, align, escaped(text));
}

std::string verdict_block(const Verdict& verdict) {
  if (verdict.headline.empty()) return "";
  std::string out = fmt::format("<div class=\"verdict {}\" role=\"status\">\n", name(verdict.tone));
  if (!verdict.word.empty()) out += "<span class=\"word\">" + escaped(verdict.word) + "</span>\n";
  out += "<p class=\"headline\">" + escaped(verdict.headline) + "</p>\n";
  for (const std::string& line : verdict.lines) out += "<p>" + marked_up(line) + "</p>\n";
  return out + "</div>\n";
}

/// An anchor that no earlier section has.
std::string unused_anchor(const std::string& title, std::set<std::string>& used) {
  std::string anchor = anchor_name(title);
  for (int i = 2; !used.insert(anchor).second; ++i) anchor = fmt::format("{}-{}", anchor_name(title), i);
  return anchor;
}

}  // namespace

Html paragraph(std::string_view text) { return safe("<p>" + escaped(text) + "</p>\n"); }
Html prose(std::string_view text) { return safe("<p>" + marked_up(text) + "</p>\n"); }
Html lead(std::string_view text) { return safe("<p class=\"lead\">" + marked_up(text) + "</p>\n"); }
Html subheading(std::string_view text) { return safe("<h3>" + escaped(text) + "</h3>\n"); }
Html list(const std::vector<std::string>& texts) { return safe("<ul>\n" + items(texts) + "</ul>\n"); }
Html numbered_list(const std::vector<std::string>& texts) { return safe("<ol>\n" + items(texts) + "</ol>\n"); }
Html code_block(std::string_view code) { return safe("<pre><code>" + escaped(code) + "</code></pre>\n"); }

Html document_text(std::string_view text) {
  return safe("<div class=\"document\" tabindex=\"0\">" + escaped(text) + "</div>\n");
}

Html table(const Table& table) {
  table.check_shape();
  std::string out = "<div class=\"scroll\"><table>\n";
  if (!table.caption.empty()) out += "<caption>" + escaped(table.caption) + "</caption>\n";
  bool named = false;
  for (const Column& column : table.columns) named |= !column.name.empty();
  if (named) {
    out += "<thead><tr>";
    for (const Column& column : table.columns) out += cell("th", column, column.name);
    out += "</tr></thead>\n";
  }
  out += "<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    bool emphasis = false;
    for (const std::size_t row : table.emphasis) emphasis |= row == r;
    out += emphasis ? "<tr class=\"emphasis\">" : "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) out += cell("td", table.columns[c], table.rows[r][c]);
    out += "</tr>\n";
  }
  return safe(out + "</tbody></table></div>\n");
}

Html figure(const std::string& svg, std::string_view caption) {
  std::string out = "<figure>\n" + svg;
  if (!caption.empty()) out += "<figcaption>" + marked_up(caption) + "</figcaption>\n";
  return safe(out + "</figure>\n");
}

Html columns(const std::vector<Html>& blocks) {
  std::string out = "<div class=\"columns\">\n";
  for (const Html& block : blocks)
    if (!block.empty()) out += "<div>" + block.text() + "</div>\n";
  return safe(out + "</div>\n");
}

Html details(std::string_view summary, const Html& inside) {
  return safe("<details><summary>" + escaped(summary) + "</summary>\n<div class=\"inside\">" + inside.text() +
              "</div></details>\n");
}

Html notice(Tone tone, std::string_view text) {
  return safe(fmt::format("<div class=\"notice {}\"><p>{}</p></div>\n", name(tone), marked_up(text)));
}

Html tag(Tone tone, std::string_view text) {
  return safe(fmt::format("<span class=\"tag {}\">{}</span> ", name(tone), escaped(text)));
}

Html cards(const std::vector<Card>& cards) {
  std::string out = "<div class=\"cards\">\n";
  for (const Card& card : cards)
    out += "<div class=\"card\"><div class=\"name\">" + escaped(card.name) + "</div><div class=\"figure\">" +
           escaped(card.figure) + "</div><div class=\"detail\">" + escaped(card.detail) + "</div></div>\n";
  return safe(out + "</div>\n");
}

std::string Page::html() const {
  std::string links, body;
  std::set<std::string> used;
  for (const Section& section : sections) {
    const std::string anchor = unused_anchor(section.title, used);
    links += fmt::format("<a href=\"#{}\">{}</a>\n", anchor, escaped(section.title));
    body += fmt::format("<section id=\"{0}\">\n<h2><a href=\"#{0}\">{1}</a></h2>\n", anchor, escaped(section.title));
    if (!section.lead.empty()) body += lead(section.lead).text();
    body += section.body.text() + "</section>\n";
  }
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\"/>\n";
  out += "<title>" + escaped(title) + "</title>\n<style>" + std::string(plot_style()) + std::string(page_style()) +
         "</style>\n</head>\n<body>\n<div class=\"sheet\">\n<header>\n<h1>" + escaped(title) + "</h1>\n";
  if (!subtitle.empty()) out += "<p class=\"subtitle\">" + escaped(subtitle) + "</p>\n";
  out += "</header>\n<main>\n" + verdict_block(verdict) + summary.text();
  if (!links.empty()) out += "<nav aria-label=\"Sections\">\n" + links + "</nav>\n";
  out += body + "</main>\n";
  if (!footer.empty()) out += "<footer>" + escaped(footer) + "</footer>\n";
  return out + "</div>\n</body>\n</html>\n";
}

}  // namespace attune::report
