#include "attune/text/template/lexer.h"

#include <algorithm>
#include <cstdlib>

#include "attune/text/template/characters.h"
#include "attune/text/template/literals.h"
#include "attune/text/utf8.h"

namespace attune::jinja {

namespace {

using Kind = Token::Kind;

/// Every line ends with \n, and the last line's end does not count.
std::string normal_lines(std::string_view text) {
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      lines += text[i];
      continue;
    }
    lines += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& source) : text_(normal_lines(text)), source_(source) {}

  std::vector<Token> run() {
    while (place_ < text_.size()) data();
    tokens_.push_back({.kind = Kind::end, .text = {}, .line = tokens_.empty() ? 1 : tokens_.back().line});
    return std::move(tokens_);
  }

 private:
  /// Text up to the next tag, and that tag.
  void data() {
    std::size_t tag = place_;
    while ((tag = text_.find('{', tag)) != std::string::npos && !(tag + 1 < text_.size() && opens(text_[tag + 1])))
      ++tag;
    if (tag == std::string::npos) {
      add(Kind::data, text_.substr(place_));
      place_ = text_.size();
      return;
    }
    const char kind = text_[tag + 1];
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : 0;
    text_before(text_.substr(place_, tag - place_), sign, kind != '{');
    place_ = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
    line_starts_ = false;
    if (kind == '%' && raw()) return;
    if (kind == '#') return comment();
    add(kind == '%' ? Kind::block_begin : Kind::variable_begin, "");
    code(kind == '%' ? '%' : '}');
  }

  static bool opens(char c) { return c == '%' || c == '{' || c == '#'; }

  /// Text before a tag, without the white space that the tag takes.
  void text_before(std::string text, char sign, bool strips_line) {
    const auto lines = count_lines(text);
    if (sign == '-') {
      text.resize(strip(text, Ends::right).size());
    } else if (sign != '+' && strips_line) {
      const std::size_t begin = text.rfind('\n') + 1;  // 0 where there is none
      const bool blank = begin < text.size() && strip(std::string_view(text).substr(begin), Ends::left).empty();
      if ((begin > 0 || line_starts_) && blank) text.resize(begin);
    }
    if (!text.empty()) add(Kind::data, std::move(text));
    line_ += lines;
  }

  /// Behind "%}" and its like: the white space that "-" asks for, or a line's end.
  void behind_tag(char sign, bool trims) {
    if (sign == '-')
      skip_space();
    else if (trims && sign != '+' && place_ < text_.size() && text_[place_] == '\n')
      skip(1);
  }

  void skip(std::size_t bytes) {
    line_ += count_lines(std::string_view(text_).substr(place_, bytes));
    place_ += bytes;
    if (bytes > 0) line_starts_ = text_[place_ - 1] == '\n';
  }
  void skip_space() {
    const std::string_view rest = std::string_view(text_).substr(place_);
    skip(rest.size() - strip(rest, Ends::left).size());
  }

  void comment() {
    const std::size_t end = text_.find("#}", place_);
    if (end == std::string::npos) fail_at(source_, line_, "Missing end of comment tag");
    const char sign = end > place_ ? text_[end - 1] : 0;
    skip(end + 2 - place_);
    behind_tag(sign, true);
  }

  /// What follows "{%" if that begins with the word and closes the tag: the place behind, and the sign before "%}".
  struct Tag {
    std::size_t end = 0;
    char sign = 0;
  };
  std::optional<Tag> tag_of(std::size_t from, std::string_view word) const {
    const auto over_space = [&](std::size_t at) {
      const std::string_view rest = std::string_view(text_).substr(at);
      return at + rest.size() - strip(rest, Ends::left).size();
    };
    from = over_space(from);
    if (!std::string_view(text_).substr(from).starts_with(word)) return {};
    from = over_space(from + word.size());
    Tag tag;
    if (from < text_.size() && (text_[from] == '-' || (text_[from] == '+' && word == "endraw")))
      tag.sign = text_[from++];
    if (!std::string_view(text_).substr(from).starts_with("%}")) return {};
    tag.end = from + 2;
    return tag;
  }

  /// {% raw %} to {% endraw %}, if that is what stands here.
  bool raw() {
    const std::optional<Tag> begin = tag_of(place_, "raw");
    if (!begin) return false;
    skip(begin->end - place_);
    behind_tag(begin->sign, false);
    for (std::size_t tag = place_; (tag = text_.find("{%", tag)) != std::string::npos; ++tag) {
      const char sign = tag + 2 < text_.size() ? text_[tag + 2] : 0;
      const std::optional<Tag> end = tag_of(tag + 2 + (sign == '-' || sign == '+' ? 1 : 0), "endraw");
      if (!end) continue;
      text_before(text_.substr(place_, tag - place_), sign, true);
      place_ = tag;
      skip(end->end - place_);
      behind_tag(end->sign, true);
      return true;
    }
    fail_at(source_, line_, "Missing end of raw directive");
  }

  /// What stands in a tag, up to "%}" or "}}".
  void code(char closing) {
    open_.clear();
    while (place_ < text_.size()) {
      if (open_.empty() && closes(closing)) return;
      const std::size_t from = place_;
      const char32_t point = peek();
      if (is_space(point))
        skip_space();
      else if (!number() && !name(point) && !string() && !symbol())
        fail_at(source_, line_, "unexpected char {} at {}", repr(text_.substr(place_, utf8_length(text_[place_]))),
                code_points(std::string_view(text_).substr(0, from)));
      line_starts_ = place_ > from && text_[place_ - 1] == '\n';
    }
  }

  bool closes(char closing) {
    const char sign = text_[place_];
    const bool signed_end = sign == '-' || (sign == '+' && closing == '%');
    const char end[] = {closing, '}', 0};
    if (text_.compare(place_ + (signed_end ? 1 : 0), 2, end) != 0) return false;
    add(closing == '%' ? Kind::block_end : Kind::variable_end, "");
    line_starts_ = false;
    place_ += signed_end ? 3 : 2;
    behind_tag(signed_end ? sign : 0, closing == '%');
    return true;
  }

  char32_t peek() const {
    std::size_t place = place_;
    return next_code_point(text_, place);
  }

  bool number() {
    const bool after_dot = place_ > 0 && text_[place_ - 1] == '.';
    const std::optional<NumberLiteral> found = number_literal(std::string_view(text_).substr(place_), !after_dot);
    if (!found) return false;
    if (found->too_large) fail_at(source_, line_, "a whole number beyond 128 bits");
    add(found->value.real() ? Kind::real : Kind::integer, "");
    tokens_.back().number = found->value;
    place_ += found->size;
    return true;
  }

  bool name(char32_t first) {
    if (!is_word(first) && !continues_identifier(first)) return false;
    const std::size_t from = place_;
    while (place_ < text_.size() && (is_word(peek()) || continues_identifier(peek()))) next_code_point(text_, place_);
    std::string found = text_.substr(from, place_ - from);
    if (!begins_identifier(first)) fail_at(source_, line_, "Invalid character in identifier");
    for (std::size_t at = 0; at < found.size();)
      if (!continues_identifier(next_code_point(found, at))) fail_at(source_, line_, "Invalid character in identifier");
    add(Kind::name, std::move(found));
    return true;
  }

  bool string() {
    const char quote = text_[place_];
    if (quote != '\'' && quote != '"') return false;
    std::size_t end = place_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    const std::string_view inner = std::string_view(text_).substr(place_ + 1, end - place_ - 1);
    try {
      add(Kind::string, unescaped(inner));
    } catch (const Error& error) {
      fail_at(source_, line_, "{}", error.what());
    }
    skip(end + 1 - place_);
    return true;
  }

  bool symbol() {
    static constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                   "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                   ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const std::string_view rest = std::string_view(text_).substr(place_);
    const auto* found =
        std::find_if(std::begin(symbols), std::end(symbols), [&](auto s) { return rest.starts_with(s); });
    if (found == std::end(symbols)) return false;
    const std::string text(*found);
    if (text == "(" || text == "[" || text == "{") open_ += text == "(" ? ')' : text == "[" ? ']' : '}';
    if (text == ")" || text == "]" || text == "}") {
      if (open_.empty()) fail_at(source_, line_, "unexpected '{}'", text);
      const char expected = open_.back();
      open_.pop_back();
      if (text[0] != expected) fail_at(source_, line_, "unexpected '{}', expected '{}'", text, expected);
    }
    add(Kind::symbol, text);
    place_ += text.size();
    return true;
  }

  void add(Kind kind, std::string text) { tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_}); }
  static int count_lines(std::string_view text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

  const std::string text_;
  const std::string& source_;
  std::size_t place_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // what was read last ended a line
  std::string open_;         // the brackets that close what is open
  std::vector<Token> tokens_;
};

}  // namespace

std::string described(const Token& token) {
  switch (token.kind) {
    case Kind::data:
      return "template data / text";
    case Kind::block_begin:
      return "begin of statement block";
    case Kind::block_end:
      return "end of statement block";
    case Kind::variable_begin:
      return "begin of print statement";
    case Kind::variable_end:
      return "end of print statement";
    case Kind::string:
      return "string";
    case Kind::integer:
      return "integer";
    case Kind::real:
      return "float";
    case Kind::end:
      return "end of template";
    default:
      return token.text;
  }
}

std::vector<Token> tokenize(std::string_view text, const std::string& source) {
  check_utf8(text, "reading " + source);
  return Lexer(text, source).run();
}

}  // namespace attune::jinja
