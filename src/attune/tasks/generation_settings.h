#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attune/bundle/bundle.h"

namespace attune {

/// How a model's publisher wants it to write: generation_config.json where the directory has one, else the same keys of
/// config.json, where older models keep them.
struct GenerationSettings {
  std::vector<std::int64_t> stop_ids;          // eos_token_id
  std::optional<std::int64_t> begin_id;        // bos_token_id
  std::optional<std::int64_t> forced_stop_id;  // forced_eos_token_id
  std::vector<std::int64_t> forbidden_ids;     // bad_words_ids of one token each, and the padding token
  std::optional<std::int64_t> beams;           // num_beams
  std::optional<double> length_penalty;        // length_penalty
  std::optional<std::int64_t> max_length;      // of all that the decoder reads and writes

  /// Throws Error that names the file and the key where a value is of the wrong kind.
  static GenerationSettings read(const Bundle& bundle);
};

/// Tokens that a sequence of the model may have: the contract's longest input where it says one, else the model's own;
/// 0: no bound.
std::int64_t longest_sequence(const Bundle& bundle);

}  // namespace attune
