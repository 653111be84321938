#pragma once

#include <optional>
#include <vector>

#include "attune/base/run.h"
#include "attune/decode/decoder.h"

namespace attune {

/// Beyond, a search only grows slower and its cache larger: translations get worse from some tens on (Koehn & Knowles
/// 2017, "Six challenges for neural machine translation", section 3.6).
inline constexpr std::int64_t most_beams = 1000;

struct BeamOptions {
  std::int64_t beams = 4;                   // 1: greedy; at most most_beams
  double length_penalty = 1;                // scores are divided by length^penalty
  std::int64_t max_tokens = 512;            // of each result, its end token included
  std::int64_t longest = 0;                 // tokens that the decoder may hold, a causal prompt included; 0: no bound
  std::vector<std::int64_t> stop_ids = {};  // each ends a sequence
  std::optional<std::int64_t> forced_stop_id = {};  // what the last of max_tokens is made to be
  std::vector<std::int64_t> forbidden_ids = {};     // never written: they have no probability
  std::int64_t sequences_together = 64;             // beams that are decoded at a time
  CacheFormat cache = CacheFormat::f32;             // how keys and values are kept
};

struct BeamResult {
  std::vector<std::int64_t> ids;  // without what it began with; the stop token included
  double score = 0;               // sum of log-probabilities / length^penalty
  bool stopped = false;           // by a stop id; else by max_tokens
};

/// The best continuation that beam search finds of each source (encoder-decoders: what the encoder reads; the decoder
/// begins with decoder_start_token_id) or prompt (causal models), as transformers' generate() searches with its
/// defaults (early_stopping false, renormalize_logits true): the beams go on until no running one can overtake the
/// worst of as many finished ones, judged by their length so far. The forced stop costs nothing, as there. A result
/// does not depend on what else is searched. Throws Error on an empty input or a setting out of range; Cancelled where
/// the run is stopped.
std::vector<BeamResult> beam_search(const Model& model, const std::vector<std::vector<std::int64_t>>& inputs,
                                    const BeamOptions& options, const Run& run);

}  // namespace attune
