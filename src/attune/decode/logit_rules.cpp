#include "attune/decode/logit_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attune/base/error.h"

namespace attune {

namespace {

constexpr float impossible = -std::numeric_limits<float>::infinity();

class RulesAtWork {
 public:
  RulesAtWork(const LogitRules& rules, const TextSoFar& text, std::span<float> logits)
      : rules_(rules), written_(text.written), logits_(logits), all_(text.given.begin(), text.given.end()) {
    all_.insert(all_.end(), text.written.begin(), text.written.end());
  }

  void penalise() {
    if (rules_.repetition_penalty != 1) {
      std::vector<bool> seen(logits_.size());
      for (std::int64_t token : all_) {
        if (!has(token) || seen[at(token)]) continue;
        seen[at(token)] = true;
        const auto logit = static_cast<double>(logits_[at(token)]);
        logits_[at(token)] =
            static_cast<float>(logit < 0 ? logit * rules_.repetition_penalty : logit / rules_.repetition_penalty);
      }
    }
    if (rules_.presence_penalty == 0 && rules_.frequency_penalty == 0) return;
    std::vector<std::int64_t> times(logits_.size());
    for (std::int64_t token : written_)
      if (has(token)) ++times[at(token)];
    for (std::size_t t = 0; t < times.size(); ++t)
      if (times[t] > 0)
        logits_[t] = static_cast<float>(static_cast<double>(logits_[t]) - rules_.presence_penalty -
                                        static_cast<double>(times[t]) * rules_.frequency_penalty);
  }

  /// The last n - 1 tokens stood in the text before: what followed them then does not follow them now.
  void forbid_repetition() {
    const auto n = static_cast<std::size_t>(rules_.no_repeat_ngram);
    if (n == 0 || all_.size() + 1 < n) return;
    const auto tail = all_.end() - static_cast<std::ptrdiff_t>(n - 1);
    for (std::size_t i = 0; i + n <= all_.size(); ++i)
      if (std::equal(tail, all_.end(), all_.begin() + static_cast<std::ptrdiff_t>(i))) forbid(all_[i + n - 1]);
  }

  void forbid_sequences() {
    for (const std::vector<std::int64_t>& sequence : rules_.forbidden_sequences) {
      const std::size_t before = sequence.size() - 1;
      if (before > all_.size()) continue;
      const auto tail = all_.end() - static_cast<std::ptrdiff_t>(before);
      if (std::equal(tail, all_.end(), sequence.begin())) forbid(sequence.back());
    }
  }

  void forbid(std::int64_t token) {
    if (has(token)) logits_[at(token)] = impossible;
  }
  void forbid(std::span<const std::int64_t> tokens) {
    for (std::int64_t token : tokens) forbid(token);
  }

  bool too_short() const {
    return static_cast<std::int64_t>(all_.size()) < rules_.min_length ||
           static_cast<std::int64_t>(written_.size()) < rules_.min_tokens;
  }

 private:
  static std::size_t at(std::int64_t token) { return static_cast<std::size_t>(token); }
  bool has(std::int64_t token) const { return token >= 0 && token < static_cast<std::int64_t>(logits_.size()); }

  const LogitRules& rules_;
  std::span<const std::int64_t> written_;
  std::span<float> logits_;
  std::vector<std::int64_t> all_;
};

}  // namespace

bool LogitRules::any() const {
  return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0 || no_repeat_ngram > 0 ||
         !forbidden_ids.empty() || !forbidden_sequences.empty() || min_length > 0 || min_tokens > 0 ||
         !forbidden_first_ids.empty();
}

void check_rules(const LogitRules& r) {
  check(r.repetition_penalty > 0 && std::isfinite(r.repetition_penalty),
        "repetition-penalty is {}: give more than 0 (1: none)", r.repetition_penalty);
  check(std::isfinite(r.presence_penalty), "presence-penalty is {}: give a number (0: none)", r.presence_penalty);
  check(std::isfinite(r.frequency_penalty), "frequency-penalty is {}: give a number (0: none)", r.frequency_penalty);
  check(r.no_repeat_ngram >= 0, "no-repeat-ngram is {}: give 0 (they may be repeated) or more", r.no_repeat_ngram);
  check(r.min_tokens >= 0 && r.min_length >= 0, "min-tokens is {}: give 0 or more",
        std::min(r.min_tokens, r.min_length));
  for (const auto& sequence : r.forbidden_sequences)
    check(sequence.size() >= 2, "a forbidden sequence has {} tokens: give 2 or more", sequence.size());
}

void apply_rules(const LogitRules& rules, const TextSoFar& text, std::span<const std::int64_t> stop_ids,
                 std::span<float> logits) {
  if (!rules.any()) return;
  RulesAtWork work(rules, text, logits);
  work.penalise();
  work.forbid_repetition();
  work.forbid(rules.forbidden_ids);
  work.forbid_sequences();
  if (work.too_short()) work.forbid(stop_ids);
  if (text.written.empty()) work.forbid(rules.forbidden_first_ids);
}

}  // namespace attune
