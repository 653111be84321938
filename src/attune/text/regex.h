#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/aligned_text.h"

namespace attune {

/// A regular expression as tokenizer files hold it: Oniguruma's Ruby syntax over Unicode, run by PCRE2 with JIT. What
/// the two read differently is translated (\s \w \b \h, ^ and $), or refused by name where there is no equal form.
class Regex {
 public:
  /// Throws Error with the position and the reason.
  explicit Regex(std::string_view pattern);
  /// Matches of exactly this text, which may be empty (then it matches before every character and at the end).
  static Regex literal(std::string_view text);

  /// All matches in order, as Oniguruma's scan gives them: an empty one never directly behind another. Text is valid
  /// UTF-8. Throws Error where the pattern needs too many steps.
  void find_all(std::string_view text, std::vector<Span>& matches) const;

 private:
  struct Compiled;
  Regex() = default;
  std::shared_ptr<const Compiled> compiled_;  // null: the literal
  std::string literal_, pattern_;
};

/// The pattern in PCRE2's syntax (with UTF, UCP and MULTILINE). Throws Error on what has no equal.
std::string translate_oniguruma(std::string_view pattern);

}  // namespace attune
