#include "attune/base/error.h"
#include "attune/text/regex.h"

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
      if (c == '\\') {
        escape(false);
      } else if (c == '[') {
        set();
      } else if (c == '(' && in_.substr(at_, 2) == "(?") {
        group();
      } else if (c == '}' && interval_ && in_.substr(at_ + 1, 1) == "+") {
        refuse("a \"+\" behind an interval");  // Ruby repeats the interval, PCRE2 makes it possessive
      } else {
        interval_ = c == '{' ? true : c == '}' ? false : interval_;
        copy(1);
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
    at_ += count;
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
        if (in_set) refuse("\\W inside a set");
        return put("[^" + std::string(word) + "]", 2);
      case 'h':
        return class_of("0-9a-fA-F");
      case 'H':
        refuse("\\H");
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

  void set() {
    copy(1);
    if (in_.substr(at_, 1) == "^") copy(1);
    if (in_.substr(at_, 1) == "]") refuse("an empty set");
    while (true) {
      if (at_ >= in_.size()) refuse("a set that does not end");
      const char c = in_[at_];
      if (c == ']') return copy(1);
      if (c == '[') refuse("a set inside a set");
      if (c == '&' && in_.substr(at_, 2) == "&&") refuse("an intersection of sets");
      if (c == '\\') {
        escape(true);
      } else {
        copy(1);
      }
    }
  }

  void group() {
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)", "(?-i:", "(?-i)", "(?#"})
      if (in_.substr(at_, known.size()) == known) {
        if (known == "(?#") refuse("a comment");
        return copy(known.size());
      }
    refuse("a group \"" + std::string(in_.substr(at_, 4)) + "\"");
  }

  std::string_view in_;
  std::size_t at_ = 0;
  bool interval_ = false;
  std::string out_;
};

}  // namespace

std::string translate_oniguruma(std::string_view pattern) { return Translation(pattern).run(); }

}  // namespace attune
