#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/decode/generate.h"

namespace attune {

struct TextGeneration {
  std::int64_t max_tokens = 256;
  Sampling sampling = {};
  std::int64_t beams = 1;              // above 1: beam search, without sampling
  std::vector<std::string> stop = {};  // texts before which the result ends
  std::uint64_t seed = 0;
  CacheFormat cache = CacheFormat::f32;  // how keys and values are kept
};

struct GeneratedText {
  std::string text;  // the continuation alone, neither trimmed nor with special tokens or what stopped it
  FinishReason reason = FinishReason::length;
  std::int64_t tokens = 0, generated_tokens = 0;  // read and written
};

/// Told each piece of text as it is written; `number` counts the prompts.
using TextSink = std::function<void(std::size_t number, std::string_view piece)>;

/// Continues prompts with a causal language model. A prompt is taken as it is, with the special tokens that the model's
/// tokenizer puts around a text; an empty one is the model's begin token. The model's end tokens stop a text, and
/// so does the longest sequence that its contract allows. All that the sink is told of a prompt is its text; with beams
/// it comes at once. Throws Error where the model writes no text or a prompt leaves no room, with both numbers.
std::vector<GeneratedText> generate_texts(const Bundle& bundle, std::span<const std::string_view> prompts,
                                          const TextGeneration& options, const Run& run, const TextSink& sink = {});

}  // namespace attune
