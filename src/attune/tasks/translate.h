#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/decode/generate.h"
#include "attune/tasks/generation_settings.h"

namespace attune {

/// What is not given is as the model's files say, and else as it stands here.
struct TranslationOptions {
  std::optional<std::int64_t> beams = {};  // 4; 1: the most probable token each time
  BeamChoice beam_search = {};
  RulesChoice rules = {};
  std::optional<std::int64_t> max_tokens = {};  // 512, at most what the model's positions hold
  /// Of a multilingual model ("ro_RO", "fra_Latn", "fr"): what the texts are in, else what its tokenizer's file says,
  /// and what they are to become, else what the model's files say.
  std::optional<std::string> source_language = {}, target_language = {};
};

struct Translation {
  std::string text;
  double score = 0;  // log-probability of its tokens / length^penalty
  /// Words that belong together: number of the source's word and of the text's, from 0, words being what stands between
  /// spaces. From the cross-attention: a hint, not a dictionary.
  std::vector<std::pair<std::int64_t, std::int64_t>> alignment = {};
  FinishReason reason = FinishReason::length;
  std::int64_t tokens = 0, generated_tokens = 0;  // read and written
  std::vector<Translation> others = {};           // with BeamChoice::results above 1: the next best ones
};

/// Translates texts (or whatever the model was trained to turn a text into) by beam search. A result does not depend
/// on the other texts. Throws Error where the model is no translator or a text is longer than it takes, with both
/// numbers, or a language is not the model's, or it needs one.
std::vector<Translation> translate(const Bundle& bundle, std::span<const std::string_view> texts,
                                   const TranslationOptions& options, const Run& run);

}  // namespace attune
