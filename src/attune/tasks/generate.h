#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/decode/generate.h"
#include "attune/tasks/generation_settings.h"

namespace attune {

/// What is not given is as the model's files say (tasks/generation_settings.h), and else as it stands here.
struct TextGeneration {
  std::optional<std::int64_t> max_tokens = {};  // 256
  SamplingChoice sampling = {};                 // none: the most probable token each time
  RulesChoice rules = {};
  std::optional<std::int64_t> beams = {};  // 1; above: beam search, without sampling
  BeamChoice beam_search = {};
  std::vector<std::string> stop = {};  // texts before which the result ends, beside those of the model's files
  std::uint64_t seed = 0;
  CacheFormat cache = CacheFormat::f32;  // how keys and values are kept
};

struct GeneratedText {
  std::string text;  // the continuation alone, neither trimmed nor with special tokens or what stopped it
  FinishReason reason = FinishReason::length;
  std::int64_t tokens = 0, generated_tokens = 0;  // read and written
  std::optional<double> score = {};               // of beam search: log-probability / length^penalty
  std::vector<GeneratedText> others = {};         // with BeamChoice::results above 1: the next best ones
};

/// Told each piece of text as it is written; `number` counts the prompts.
using TextSink = std::function<void(std::size_t number, std::string_view piece)>;

/// Continues prompts with a causal language model. A prompt is taken as it is, with the special tokens that the model's
/// tokenizer puts around a text; an empty one is the model's begin token. The model's end tokens stop a text, and
/// so does the longest sequence that its contract allows. All that the sink is told of a prompt is its text; with beams
/// it comes at once. Throws Error where the model writes no text or a prompt leaves no room, with both numbers.
std::vector<GeneratedText> generate_texts(const Bundle& bundle, std::span<const std::string_view> prompts,
                                          const TextGeneration& options, const Run& run, const TextSink& sink = {});

/// Prompts in token ids, which are taken as they are; an empty one is the model's begin token.
struct PromptTokens {
  std::vector<std::vector<std::int64_t>> ids;
  std::vector<std::int64_t> stop_ids = {};  // end tokens beside those of the model's files
  /// What is written is a text of its own and decoded alone, as answers are; else it goes on with the prompt's text.
  bool apart = false;
  std::int64_t usual_tokens = 256;  // written at most, where neither the options nor the model's files say it
  KeptTexts* kept = nullptr;        // what stays in the cache from call to call; beams leave it as it is
};
/// The same for them.
std::vector<GeneratedText> continue_prompts(const Bundle& bundle, const PromptTokens& prompts,
                                            const TextGeneration& options, const Run& run, const TextSink& sink = {});

}  // namespace attune
