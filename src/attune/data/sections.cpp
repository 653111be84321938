#include "attune/data/sections.h"

#include <algorithm>

namespace attune {

namespace {

constexpr std::string_view spaces = " \t\r\f\v";

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_space(char c) { return c == '\n' || spaces.find(c) != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

struct Heading {
  std::string_view text;  // empty: none
  bool alone = false;     // nothing else on the line
};

Heading markdown_heading(std::string_view line) {
  std::size_t marks = line.find_first_not_of('#');
  if (marks == 0 || marks > 6 || marks == std::string_view::npos || line[marks] != ' ') return {};
  std::string_view text = trimmed(line.substr(marks));
  while (text.ends_with('#')) text.remove_suffix(1);
  return {trimmed(text), true};
}

Heading colon_heading(std::string_view line) {
  std::size_t colon = line.substr(0, 61).find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  if (colon + 1 < line.size() && !is_space(line[colon + 1])) return {};
  std::string_view text = trimmed(line.substr(0, colon));
  bool capital = is_upper(text[0]) || static_cast<unsigned char>(text[0]) >= 0xC3;  // other scripts' letters pass
  bool sentence = text.find_first_of(".!?;,") != std::string_view::npos;
  if (!capital || sentence || std::ranges::count(text, ' ') > 5) return {};
  return {text, trimmed(line.substr(colon + 1)).empty()};
}

Heading capitals_heading(std::string_view line) {
  if (line.size() > 80 || std::ranges::count_if(line, is_upper) < 4 || std::ranges::any_of(line, is_lower)) return {};
  return {line, true};
}

Heading heading_of(std::string_view line) {
  line = trimmed(line);
  if (line.empty()) return {};
  for (auto* form : {markdown_heading, colon_heading, capitals_heading})
    if (Heading heading = form(line); !heading.text.empty()) return heading;
  return {};
}

}  // namespace

std::vector<Section> find_sections(std::string_view text) {
  std::vector<Section> sections;
  bool after_blank = true;     // the first line begins a section
  bool after_heading = false;  // nothing but a heading (and blank lines) since the section's beginning
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string_view line = trimmed(text.substr(begin, end - begin - (text[end - 1] == '\n')));
    if (line.empty()) {
      after_blank = true;
    } else {
      Heading heading = heading_of(line);
      if (!heading.text.empty() || (after_blank && !after_heading)) {
        sections.push_back({begin, end, heading.text});
        after_heading = !heading.text.empty() && heading.alone;
      } else {
        after_heading = false;
      }
      after_blank = false;
    }
    begin = end;
  }
  if (sections.empty() && !text.empty()) sections.push_back({0, text.size(), {}});
  for (std::size_t i = 0; i < sections.size(); ++i)
    sections[i].end = i + 1 < sections.size() ? sections[i + 1].begin : text.size();
  if (!sections.empty()) sections[0].begin = 0;  // blank lines before the first
  return sections;
}

std::vector<std::size_t> find_sentences(std::string_view text) {
  std::vector<std::size_t> begins;
  if (!text.empty()) begins.push_back(0);
  auto begin_at = [&](std::size_t at) {
    if (at < text.size() && at > begins.back()) begins.push_back(at);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      begin_at(i + 1);
    } else if (text[i] == '.' || text[i] == '!' || text[i] == '?') {
      std::size_t after = i + 1;
      while (after < text.size() && std::string_view(".!?\"')]}").find(text[after]) != std::string_view::npos) ++after;
      std::size_t next = after;
      while (next < text.size() && spaces.find(text[next]) != std::string_view::npos) ++next;
      if (next > after && next < text.size() && text[next] != '\n') begin_at(next);
      i = after - 1;
    } else if (text.substr(i, 3) == "\u3002" || text.substr(i, 3) == "\uFF01" || text.substr(i, 3) == "\uFF1F") {
      begin_at(i + 3);  // ideographic full stop, fullwidth ! and ?
    }
  }
  return begins;
}

}  // namespace attune
