#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attune/base/run.h"
#include "attune/decode/decoder.h"
#include "attune/decode/logit_rules.h"
#include "attune/decode/sampling.h"

namespace attune {

enum class FinishReason { stop, length };
std::string name_of(FinishReason reason);  // "stop", "length"

/// What the last call's texts left in the cache, for the next call's prompts that begin with the same tokens. Empty at
/// first; holds to the model of its first call, which must outlive it, and to that call's cache format.
class KeptTexts {
 public:
  KeptTexts();
  ~KeptTexts();

  /// Tokens that the last call's prompts had in common with what was kept, and so did not read.
  std::int64_t tokens_shared() const;

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

struct GenerateOptions {
  std::int64_t max_tokens = 256;            // of each sequence, its end token included
  std::int64_t longest = 0;                 // tokens of a prompt and its continuation together; 0: no bound
  std::vector<std::int64_t> stop_ids = {};  // each ends a sequence, and is its last token
  LogitRules rules = {};                    // before sampling, and where there is none
  Sampling sampling = {};
  std::uint64_t seed = 0;
  std::int64_t sequences_together = 32;  // decoded at a time; the next prompt enters when one leaves
  CacheFormat cache = CacheFormat::f32;  // how keys and values are kept
  KeptTexts* kept = nullptr;             // none: nothing stays in the cache
};

/// A prompt's continuation; the prompt is not in it.
struct Generated {
  std::vector<std::int64_t> ids;  // the stop token included
  FinishReason reason = FinishReason::length;
};

/// Told each token of each sequence, numbered as the prompts, as it is chosen (a stop id too); false ends that sequence
/// there.
using TokenSink = std::function<bool(std::int64_t sequence, std::int64_t id)>;

/// Continues the prompts with a causal model: all together, each token by one forward with the key-value cache. What
/// prompts begin with in common is read once. What a prompt gets depends on itself, its number, the seed and the
/// cache's format alone. Throws Error on an empty prompt, one with no room
/// left under `longest`, or a token that the model does not have; Cancelled where the run is stopped.
std::vector<Generated> generate(const Model& model, const std::vector<std::vector<std::int64_t>>& prompts,
                                const GenerateOptions& options, const Run& run, const TokenSink& sink = {});

}  // namespace attune
