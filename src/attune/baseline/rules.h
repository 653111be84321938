#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/config_reader.h"

namespace attune {

/// Where in a document a rule looks.
enum class RuleScope {
  anywhere,
  heading,    // lines that announce: the first line, lines in capitals, before a colon, numbered, starred or underlined
  beginning,  // the first characters
};

/// The headings of a text, one a line, as RuleScope::heading sees them.
std::string headings_of(std::string_view text);

/// Labels by hand-written rules: a TOML file that a person edits.
///
///   default = "referral"                  # where nothing matches
///   tie_break = ["referral", "report"]    # of equal scores the earlier; labels not named come after, in order of name
///   beginning = 400                       # how many characters "beginning" means
///   [[rule]]
///   label = "report"
///   weight = 2.5                          # added once if the rule matches; 1 if not given; may be negative
///   where = "heading"                     # "anywhere" if not given
///   phrases = ["radiology report"]        # any case, any spacing, whole words; or phrase = "..."
///   regex = 'CT of the \w+'               # or this: PCRE2, any case
///
/// A label's probability is exp(score) / sum: a way to rank by how sure the rules are, not a calibrated one.
class RuleBaseline {
 public:
  /// Throws Error that names the file and the rule: an unknown key or scope with the nearest name, a regex that does
  /// not compile with its place, a rule that looks for nothing, an unknown label with the nearest. `labels` are the
  /// columns.
  static RuleBaseline read(const Path& path, std::vector<std::string> labels);
  static RuleBaseline parse(std::string_view toml, const std::string& source, std::vector<std::string> labels);

  /// [labels], each rule's weight added to its label; all 0 where nothing matches.
  std::vector<double> scores(std::string_view text) const;
  /// [labels]; the largest is the answer, with default and tie_break applied.
  std::vector<double> probabilities(std::string_view text) const;
  /// [documents, labels]; documents are shared between the threads.
  std::vector<double> probabilities(const std::vector<std::string_view>& texts) const;

 private:
  struct Rule;
  void read_rule(const Json& object, const std::string& source);
  int label_index(const std::string& label, const std::string& source) const;

  std::vector<std::string> labels_;
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::vector<double> preference_;  // [labels], 0 to 1e-6: settles ties
  int default_ = 0;
  std::size_t beginning_ = 400;
};

}  // namespace attune
