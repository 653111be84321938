#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune {

/// What the tokens so far change about the next one: applied to its logits (with beams to its log-probabilities, as
/// transformers does) in transformers' order, which is that of the members.
struct LogitRules {
  /// Of each token that the text has, what was given included: logits above 0 are divided by it, others multiplied
  /// (Keskar et al. 2019, "CTRL", section 4.1).
  double repetition_penalty = 1;
  /// Subtracted for each token that was written, once, and once for each time (OpenAI's API; not for what was given).
  double presence_penalty = 0;
  double frequency_penalty = 0;
  std::int64_t no_repeat_ngram = 0;              // so many tokens never stand in the text a second time; 0: they may
  std::vector<std::int64_t> forbidden_ids = {};  // never written: they have no probability
  std::vector<std::vector<std::int64_t>> forbidden_sequences = {};  // of two tokens or more: never written to their end
  /// No stop token before the text has so many tokens, what was given included, and so many were written.
  std::int64_t min_length = 0;
  std::int64_t min_tokens = 0;
  std::vector<std::int64_t> forbidden_first_ids = {};  // not written as the first

  bool any() const;
};

/// Throws Error that names the rule and its range.
void check_rules(const LogitRules& rules);

/// The text so far: what a model was given (a prompt, or what the decoder begins with), and what it wrote.
struct TextSoFar {
  std::span<const std::int64_t> given, written;
};

/// Applies the rules to the logits [vocabulary] of the next token. Tokens of the rules that the vocabulary does not
/// have are passed over.
void apply_rules(const LogitRules& rules, const TextSoFar& text, std::span<const std::int64_t> stop_ids,
                 std::span<float> logits);

}  // namespace attune
