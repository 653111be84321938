#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "attune/base/run.h"
#include "attune/decode/decoder.h"
#include "attune/decode/logit_rules.h"

namespace attune {

/// Beyond, a search only grows slower and its cache larger: translations get worse from some tens on (Koehn & Knowles
/// 2017, "Six challenges for neural machine translation", section 3.6).
inline constexpr std::int64_t most_beams = 1000;

/// When a search ends, once as many texts are finished as there are beams: where no running one, judged by its length
/// so far, would be better than the worst of them; at once; or where none can become better by growing longer.
enum class EarlyStopping { heuristic, at_once, never };

struct BeamOptions {
  std::int64_t beams = 4;                   // 1: greedy; at most most_beams
  double length_penalty = 1;                // scores are divided by length^penalty
  std::int64_t max_tokens = 512;            // of each result, its end token included
  std::int64_t longest = 0;                 // tokens that the decoder may hold, a causal prompt included; 0: no bound
  std::vector<std::int64_t> stop_ids = {};  // each ends a sequence
  /// Whether what was written of an input (by its number) ends there, as transformers' stopping criteria do: asked of
  /// candidates, also by several threads at once; none: only stop ids end a sequence.
  std::function<bool(std::size_t input, std::span<const std::int64_t> written)> ends = {};
  std::optional<std::int64_t> begin_id = {};  // an encoder-decoder's text begins with; else decoder_start_token_id
  std::optional<std::int64_t> forced_first_id = {};  // what the first written token is made to be
  std::optional<std::int64_t> forced_stop_id = {};   // what the last of max_tokens is made to be
  LogitRules rules = {};
  bool renormalise = true;  // what rules leave is made probabilities again; else it keeps those it had
  EarlyStopping early_stopping = EarlyStopping::heuristic;
  /// Diverse beam search (Vijayakumar et al. 2016, section 4): the beams are divided into as many groups, and each
  /// token that beams of earlier groups chose at a step costs `diversity_penalty` a time in the later ones.
  std::int64_t groups = 1;
  double diversity_penalty = 0;
  std::int64_t sequences_together = 64;  // beams that are decoded at a time
  CacheFormat cache = CacheFormat::f32;  // how keys and values are kept
};

struct BeamResult {
  std::vector<std::int64_t> ids;  // without what it began with; the stop token included
  double score = 0;               // sum of log-probabilities (less what the rules and groups cost) / length^penalty
  bool stopped = false;           // by a stop id or `ends`; else by max_tokens
};

/// Throws Error that names the setting and its range.
void check_beams(const BeamOptions& options);

/// The best continuations that beam search finds of each source (encoder-decoders: what the encoder reads; the decoder
/// begins with decoder_start_token_id) or prompt (causal models), best first, at most as many as there are beams. As
/// transformers' generate() searches: its processors change log-probabilities (with one beam logits), and the first
/// `beams` candidates of a step may finish. A forced token costs nothing, as there. A result does not depend on what
/// else is searched. Throws Error on an empty input or a setting out of range; Cancelled where the run is stopped.
std::vector<std::vector<BeamResult>> beam_search_all(const Model& model,
                                                     const std::vector<std::vector<std::int64_t>>& inputs,
                                                     const BeamOptions& options, const Run& run);

/// The best one of each.
std::vector<BeamResult> beam_search(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs,
                                    const BeamOptions& options, const Run& run);

}  // namespace attune
