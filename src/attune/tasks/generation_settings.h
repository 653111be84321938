#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/decode/beam_search.h"
#include "attune/decode/sampling.h"

namespace attune {

/// How a model's publisher wants it to write: generation_config.json where the directory has one, else the same keys of
/// config.json, where older models keep them.
struct GenerationSettings {
  std::vector<std::int64_t> stop_ids;            // eos_token_id
  std::optional<std::int64_t> begin_id;          // bos_token_id
  std::optional<std::int64_t> decoder_begin_id;  // decoder_start_token_id, else config.json's, else bos_token_id
  std::optional<std::int64_t> forced_first_id;   // forced_bos_token_id
  std::optional<std::int64_t> forced_stop_id;    // forced_eos_token_id
  std::vector<std::string> stop_texts;           // stop_strings
  /// repetition_penalty, no_repeat_ngram_size, bad_words_ids and suppress_tokens, min_length,
  /// min_new_tokens, begin_suppress_tokens.
  LogitRules rules;
  Sampling sampling;                        // temperature and the rest where do_sample is true, else the most probable
  std::optional<std::int64_t> beams;        // num_beams
  std::optional<std::int64_t> groups;       // num_beam_groups
  std::optional<double> diversity_penalty;  // diversity_penalty
  std::optional<double> length_penalty;     // length_penalty
  EarlyStopping early_stopping = EarlyStopping::heuristic;  // early_stopping
  bool renormalise = false;                                 // renormalize_logits
  std::optional<std::int64_t> max_length;                   // of all that the decoder reads and writes
  std::optional<std::int64_t> max_new_tokens;               // that it writes

  /// Throws Error that names the file and the key where a value is of the wrong kind or out of range. A key that asks
  /// for something that Attune does not do is a warning in the log that names it.
  static GenerationSettings read(const Bundle& bundle);
};

/// What a user asks for of it; what is not given is as the model's files say.
struct SamplingChoice {
  std::optional<double> temperature = {};
  std::optional<std::int64_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> min_p = {};
  std::optional<double> typical_p = {};

  /// Asking for top-k, top-p, min-p or typical-p is asking for sampling: at temperature 1, unless it is said.
  bool asks_for_sampling() const;
  Sampling over(const Sampling& said) const;
};
struct RulesChoice {
  std::optional<double> repetition_penalty = {};
  std::optional<double> presence_penalty = {};
  std::optional<double> frequency_penalty = {};
  std::optional<std::int64_t> no_repeat_ngram = {};
  std::optional<std::int64_t> min_tokens = {};

  LogitRules over(LogitRules said) const;
};
struct BeamChoice {
  std::optional<double> length_penalty = {};
  std::optional<std::int64_t> groups = {};
  std::optional<double> diversity_penalty = {};
  std::int64_t results = 1;  // the best so many texts of each input, at most as many as there are beams
};

/// Throw UsageError, with the options' names, where what is asked for contradicts itself: more tokens at least than at
/// most; what acts in sampling alone, without sampling; results, groups and penalties that the beams can not have.
void check_length(const RulesChoice& rules, std::optional<std::int64_t> max_tokens);
void check_sampling(const SamplingChoice& sampling, std::optional<std::int64_t> beams);
void check_beams(const BeamChoice& choice, std::optional<std::int64_t> beams);

/// Beam search as the files and the user say, with what both tasks have in common; the rest is the caller's.
BeamOptions beam_options(const GenerationSettings& settings, std::int64_t beams, const BeamChoice& choice,
                         const RulesChoice& rules);

/// Tokens that a sequence of the model may have: the contract's longest input where it says one, else the model's own;
/// 0: no bound.
std::int64_t longest_sequence(const Bundle& bundle);

}  // namespace attune
