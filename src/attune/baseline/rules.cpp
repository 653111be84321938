#define PCRE2_CODE_UNIT_WIDTH 8
#include "attune/baseline/rules.h"

#include <pcre2.h>

#include <algorithm>
#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/threads.h"

namespace attune {
namespace {

constexpr std::size_t kLongestHeading = 80, kLongestInlineHeading = 40;  // bytes

/// One compiled pattern; matching is const and safe from several threads.
class Pattern {
 public:
  Pattern(const std::string& regex, const std::string& shown, const std::string& source) {
    int problem = 0;
    PCRE2_SIZE place = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                          PCRE2_CASELESS | PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &problem, &place, nullptr);
    if (!code_) {
      char message[256] = {};
      pcre2_get_error_message(problem, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
      fail("{}: \"{}\" is not a regular expression: {} at character {}", source, shown, message, place);
    }
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);  // without it, matching is slower and the same
  }
  ~Pattern() { pcre2_code_free(code_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool found_in(std::string_view text) const {
    std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
        pcre2_match_data_create_from_pattern(code_, nullptr), pcre2_match_data_free);
    int result = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, match.get(), nullptr);
    check(result >= 0 || result == PCRE2_ERROR_NOMATCH,
          "rules: matching failed (PCRE2 error {}): simplify the regex that backtracks most, or check that the text is "
          "UTF-8",
          result);
    return result >= 0;
  }

 private:
  pcre2_code* code_ = nullptr;
};

// A phrase as a regex: whole words, any run of white space between them.
std::string phrase_regex(std::string_view phrase) {
  std::string out;
  auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80 || c == '_';
  };
  if (word(phrase.front())) out += "\\b";
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    char c = phrase[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!out.ends_with("\\s+")) out += "\\s+";
    } else {
      if (!word(c)) out += '\\';
      out += c;
    }
  }
  if (word(phrase.back())) out += "\\b";
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool all_capitals(std::string_view line) {
  bool any = false;
  for (char c : line) {
    if (c >= 'a' && c <= 'z') return false;
    any = any || (c >= 'A' && c <= 'Z');
  }
  return any;
}

bool is_rule_off(std::string_view line) {
  return line.size() >= 3 && line.find_first_not_of("-=_~*") == std::string_view::npos;
}

// The heading that a line is or begins with; empty if none.
std::string_view heading_in(std::string_view line, bool first, bool underlined) {
  if (line.empty() || is_rule_off(line)) return {};
  bool marked =
      line[0] == '#' || line.starts_with("**") ||
      (std::isdigit(static_cast<unsigned char>(line[0])) && line.substr(0, 4).find(". ") != std::string_view::npos);
  if (line.size() <= kLongestHeading && (first || underlined || marked || line.back() == ':' || all_capitals(line)))
    return line;
  std::size_t colon = line.find(": ");
  if (colon != std::string_view::npos && colon <= kLongestInlineHeading)
    return line.substr(0, line.starts_with("Subject") ? kLongestHeading : colon);
  return {};
}

// The first `characters` code points.
std::string_view beginning_of(std::string_view text, std::size_t characters) {
  std::size_t i = 0;
  for (std::size_t seen = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && seen++ == characters) break;
  return text.substr(0, i);
}

}  // namespace

struct RuleBaseline::Rule {
  int label = 0;
  double weight = 1;
  RuleScope scope = RuleScope::anywhere;
  std::vector<std::unique_ptr<const Pattern>> any_of;
};

std::string headings_of(std::string_view text) {
  std::string out;
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t next_end = std::min(text.find('\n', std::min(end + 1, text.size())), text.size());
    std::string_view line = trimmed(text.substr(begin, end - begin));
    std::string_view next = end + 1 < text.size() ? trimmed(text.substr(end + 1, next_end - end - 1)) : "";
    std::string_view heading = heading_in(line, first, is_rule_off(next));
    if (!heading.empty()) out += std::string(trimmed(heading)) + "\n";
    if (!line.empty()) first = false;
    begin = end + 1;
  }
  return out;
}

RuleBaseline RuleBaseline::read(const Path& path, std::vector<std::string> labels) {
  return parse(read_file(path), path.string(), std::move(labels));
}

RuleBaseline RuleBaseline::parse(std::string_view toml, const std::string& source, std::vector<std::string> labels) {
  check(!labels.empty(), "rules: no labels to choose between");
  ConfigReader file(parse_toml(toml, source), source);
  RuleBaseline rules;
  rules.labels_ = std::move(labels);
  rules.default_ = rules.label_index(file.string("default"), source + ", \"default\"");
  rules.beginning_ = static_cast<std::size_t>(file.integer_or("beginning", 400, {.at_least = 1, .at_most = 1e9}));
  rules.preference_.assign(rules.labels_.size(), 0);
  std::vector<std::string> order = file.strings_or("tie_break", {});
  for (std::size_t i = 0; i < order.size(); ++i) {
    double& preference =
        rules.preference_[static_cast<std::size_t>(rules.label_index(order[i], source + ", \"tie_break\""))];
    if (preference == 0) preference = 1e-6 * static_cast<double>(order.size() - i) / static_cast<double>(order.size());
  }
  const Json& list = file.raw("rule");
  check(list.is_array() && !list.empty(), "{}: there is no [[rule]]", source);
  file.finish();
  int number = 0;
  for (const Json& object : list) rules.read_rule(object, fmt::format("{}, rule {}", source, ++number));
  return rules;
}

int RuleBaseline::label_index(const std::string& label, const std::string& source) const {
  auto found = std::find(labels_.begin(), labels_.end(), label);
  if (found == labels_.end()) {
    std::string near = nearest_name(label, labels_), all;
    for (const std::string& known : labels_) all += (all.empty() ? "" : ", ") + known;
    fail("{}: no label is called \"{}\"{}; the data has {}", source, label,
         near.empty() ? "" : ": did you mean \"" + near + "\"?", all);
  }
  return static_cast<int>(found - labels_.begin());
}

void RuleBaseline::read_rule(const Json& object, const std::string& source) {
  ConfigReader c(object, source);
  auto rule = std::make_shared<Rule>();
  rule->label = label_index(c.string("label"), source);
  rule->weight = c.number_or("weight", 1, {.at_least = -1e6, .at_most = 1e6});
  std::string where = c.choice_or("where", "anywhere", {"anywhere", "heading", "beginning"});
  rule->scope = where == "heading"     ? RuleScope::heading
                : where == "beginning" ? RuleScope::beginning
                                       : RuleScope::anywhere;
  std::vector<std::string> phrases = c.strings_or("phrases", {});
  if (c.has("phrase")) phrases.push_back(c.string("phrase"));
  c.string_or("phrase", "");
  for (const std::string& phrase : phrases) {
    std::string_view words = trimmed(phrase);
    check(!words.empty(), "{}: an empty phrase would match every document", source);
    rule->any_of.push_back(std::make_unique<Pattern>(phrase_regex(words), phrase, source));
  }
  if (std::string regex = c.string_or("regex", ""); !regex.empty())
    rule->any_of.push_back(std::make_unique<Pattern>(regex, regex, source));
  c.finish();
  check(!rule->any_of.empty(), "{}: looks for nothing: give phrase, phrases or regex", source);
  rules_.push_back(std::move(rule));
}

std::vector<double> RuleBaseline::scores(std::string_view text) const {
  std::string headings = headings_of(text);
  std::string_view beginning = beginning_of(text, beginning_);
  std::vector<double> scores(labels_.size());
  for (const auto& rule : rules_) {
    std::string_view place = rule->scope == RuleScope::heading     ? std::string_view(headings)
                             : rule->scope == RuleScope::beginning ? beginning
                                                                   : text;
    bool matches = std::any_of(rule->any_of.begin(), rule->any_of.end(),
                               [&](const auto& pattern) { return pattern->found_in(place); });
    if (matches) scores[static_cast<std::size_t>(rule->label)] += rule->weight;
  }
  return scores;
}

std::vector<double> RuleBaseline::probabilities(std::string_view text) const {
  std::vector<double> p = scores(text);
  bool nothing = std::all_of(p.begin(), p.end(), [](double score) { return score == 0; });
  for (std::size_t i = 0; i < p.size(); ++i) p[i] += preference_[i];
  if (nothing) p[static_cast<std::size_t>(default_)] += 1e-3;
  double largest = *std::max_element(p.begin(), p.end()), sum = 0;
  for (double& score : p) sum += score = std::exp(score - largest);
  for (double& score : p) score /= sum;
  return p;
}

std::vector<double> RuleBaseline::probabilities(const std::vector<std::string_view>& texts) const {
  std::vector<double> all(texts.size() * labels_.size());
  parallel(static_cast<std::int64_t>(texts.size()), 32, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::vector<double> one = probabilities(texts[static_cast<std::size_t>(i)]);
      std::copy(one.begin(), one.end(), all.begin() + i * static_cast<std::int64_t>(labels_.size()));
    }
  });
  return all;
}

}  // namespace attune
