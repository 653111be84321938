#include <algorithm>
#include <string>
#include <vector>

#include "attune/base/error.h"
#include "attune/text/regex.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

// What the classes of Oniguruma hold (checked code point by code point); PCRE2's own \s and \w have others with UCP.
constexpr std::string_view white_space =
    "\\x09-\\x0D\\x20\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}"
    "\\x{202F}\\x{205F}\\x{3000}";
constexpr std::string_view not_white_space =
    "\\x00-\\x08\\x0E-\\x1F\\x21-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}"
    "\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{D7FF}\\x{E000}-\\x{10FFFF}";
constexpr std::string_view word =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}"
    "\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}\\xB2\\xB3\\xB9\\xBC-\\xBE";

class Translation {
 public:
  explicit Translation(std::string_view pattern) : in_(pattern) {}

  std::string run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '(') {
        open_.push_back(out_.size());
        if (in_.substr(at_, 2) == "(?") {
          group();
        } else {
          copy(1);
        }
      } else if (c == ')') {
        if (!open_.empty()) {
          atom_ = open_.back();
          open_.pop_back();
        }
        copy(1);
      } else if (c == '}' && interval_ && in_.substr(at_ + 1, 1) == "+") {
        out_.insert(atom_, "(?:");  // Ruby repeats the interval, PCRE2 would make it possessive
        put("})+", 2);
        interval_ = false;
      } else if (std::string_view("*+?|^$").find(c) != std::string_view::npos) {
        copy(1);
      } else if (c == '{' || c == '}') {
        interval_ = c == '{';
        copy(1);
      } else {
        if (!interval_) atom_ = out_.size();
        if (c == '\\') {
          escape(false);
        } else if (c == '[') {
          out_ += set_expression(nullptr);
        } else {
          copy(utf8_length(c));
        }
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail("the pattern \"{}\" has {} at byte {}, which Attune does not read", in_, what, at_);
  }

  void copy(std::size_t count) {
    out_.append(in_.substr(at_, count));
    at_ = std::min(at_ + count, in_.size());
  }

  void put(std::string_view text, std::size_t used) {
    out_.append(text);
    at_ += used;
  }

  void escape(bool in_set) {
    if (at_ + 1 >= in_.size()) refuse("a single backslash");
    const char c = in_[at_ + 1];
    const auto class_of = [&](std::string_view inside) {
      put(in_set ? std::string(inside) : "[" + std::string(inside) + "]", 2);
    };
    switch (c) {
      case 's':
        return class_of(white_space);
      case 'S':
        return in_set ? class_of(not_white_space) : put("[^" + std::string(white_space) + "]", 2);
      case 'w':
        return class_of(word);
      case 'W':
        return put("[^" + std::string(word) + "]", 2);
      case 'h':
        return class_of("0-9a-fA-F");
      case 'H':
        return put("[^0-9a-fA-F]", 2);
      case 'b':
      case 'B': {
        if (in_set) return copy(2);
        const std::string w = "[" + std::string(word) + "]";
        return put(c == 'b' ? "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))"
                            : "(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))",
                   2);
      }
      case 'p':
      case 'P':
        return property();
      case 'X':
      case 'R':
      case 'K':
      case 'G':
      case 'g':
      case 'k':
      case 'C':
      case 'M':
      case 'N':
      case 'O':
      case 'y':
      case 'Y':
        refuse(std::string("\\") + c);
      case 'x':
        if (in_.substr(at_ + 2, 1) == "{") return copy(in_.find('}', at_) - at_ + 1);
        return copy(2);
      default:
        return copy(2);
    }
  }

  /// Categories mean the same to both; other names of Oniguruma are refused by PCRE2 or mean the same there (scripts).
  void property() {
    const std::size_t end = in_.substr(at_ + 2, 1) == "{" ? in_.find('}', at_) : std::string_view::npos;
    if (end == std::string_view::npos) refuse("\\p without {name}");
    const std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    for (const std::string_view posix : {"Alnum", "Blank", "Cntrl", "Graph", "Print", "XPosixPunct", "Word", "XDigit"})
      if (name == posix) refuse("\\p{" + std::string(name) + "}");
    if (name == "Digit") return put("\\p{Nd}", end + 1 - at_);
    if (name == "Upper") return put("\\p{Lu}", end + 1 - at_);
    if (name == "Lower") return put("\\p{Ll}", end + 1 - at_);
    if (name == "Punct") return put("\\p{P}", end + 1 - at_);
    if (name == "Letter") return put("\\p{L}", end + 1 - at_);
    if (name == "Number") return put("\\p{N}", end + 1 - at_);
    if (name == "Punctuation") return put("\\p{P}", end + 1 - at_);
    if (name == "Symbol") return put("\\p{S}", end + 1 - at_);
    if (name == "Mark") return put("\\p{M}", end + 1 - at_);
    copy(end + 1 - at_);
  }

  /// One operand of a set: what PCRE2 can hold inside brackets, and sets that it can't nest, as expressions of their
  /// own.
  struct Operand {
    std::string items;
    std::vector<std::string> others;

    bool simple() const { return others.empty(); }
    std::string expression() const {
      if (simple()) return "[" + items + "]";
      std::string all = items.empty() ? "" : "[" + items + "]";
      for (const std::string& other : others) all += (all.empty() ? "" : "|") + other;
      return items.empty() && others.size() == 1 ? all : "(?:" + all + ")";
    }
  };

  /// The set that begins here, as an expression for one character. A plain union inside a set goes into `outer` where
  /// there is one; then the result is empty.
  std::string set_expression(Operand* outer) {
    if (++depth_ > 32) refuse("sets more than 32 deep");
    if (in_.substr(at_, 2) == "[:") refuse("a POSIX class");
    ++at_;
    const bool negated = in_.substr(at_, 1) == "^";
    if (negated) ++at_;
    if (in_.substr(at_, 1) == "]") refuse("an empty set");
    std::vector<Operand> operands(1);
    while (in_.substr(at_, 1) != "]") {
      if (at_ >= in_.size()) refuse("a set that does not end");
      Operand& operand = operands.back();
      if (in_.substr(at_, 2) == "&&") {
        at_ += 2;
        operands.emplace_back();
      } else if (in_[at_] == '[') {
        if (std::string other = set_expression(&operand); !other.empty()) operand.others.push_back(std::move(other));
      } else if (in_.substr(at_, 2) == "\\W" || in_.substr(at_, 2) == "\\H") {
        operand.others.push_back(in_[at_ + 1] == 'W' ? "[^" + std::string(word) + "]" : "[^0-9a-fA-F]");
        at_ += 2;
      } else {
        out_.swap(operand.items);
        if (in_[at_] == '\\') {
          escape(true);
        } else {
          copy(1);
        }
        out_.swap(operand.items);
      }
    }
    ++at_;
    --depth_;
    for (const Operand& operand : operands)
      if (operand.items.empty() && operand.simple()) refuse("an empty side of &&");
    if (operands.size() == 1 && operands[0].simple()) {
      if (!negated && outer) return outer->items += operands[0].items, "";
      return (negated ? "[^" : "[") + operands[0].items + "]";
    }
    std::string all;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) all += "(?=" + operands[i].expression() + ")";
    all += operands.back().expression();
    return negated ? "(?:(?!" + all + ")[\\x{0}-\\x{10FFFF}])" : "(?:" + all + ")";
  }

  void group() {
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)", "(?-i:", "(?-i)", "(?#"})
      if (in_.substr(at_, known.size()) == known) {
        if (known == "(?#") refuse("a comment");
        if (known.ends_with(')')) open_.pop_back();
        return copy(known.size());
      }
    refuse("a group \"" + std::string(in_.substr(at_, 4)) + "\"");
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::size_t atom_ = 0;           // where in out_ the last atom begins
  std::vector<std::size_t> open_;  // the same for the groups that are open
  int depth_ = 0;                  // of sets
  bool interval_ = false;
  std::string out_;
};

}  // namespace

std::string translate_oniguruma(std::string_view pattern) { return Translation(pattern).run(); }

}  // namespace attune
