#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attune/base/run.h"
#include "attune/decode/decoder.h"

namespace attune::explain {

/// A sequence, and the places in it whose tokens a model is asked for.
struct Asked {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> places;  // from 0, ascending; of a causal model from 1: nothing stands before the first
};

/// What a language model makes of one token that it is asked for.
struct TokenAnswer {
  double loss = 0;     // -log of the probability that it gives the token, natural
  bool right = false;  // it gives no other token more
};

struct Asking {
  std::optional<std::int64_t> mask_id = {};  // of a model of masked tokens
  std::optional<CacheFormat> cache = {};     // of a causal one: sees keys and values as such a cache keeps them
};

/// Asks a language model. A causal one sees all before a place; one of masked tokens sees the whole sequence with the
/// mask token in all places that are asked for. Returns the answers of each sequence, in the order of its places: the
/// same bits whatever is asked beside it. Throws Error where the model is neither kind, where it masks and `mask_id` is
/// not given, where it keeps no such cache, for a place outside its sequence, a sequence longer than the model takes or
/// a token that it does not have; Cancelled within
/// moments, also in the midst of a long sequence.
std::vector<std::vector<TokenAnswer>> ask(const Model& model, const std::vector<Asked>& sequences, const Asking& asking,
                                          const Run& run = {});

}  // namespace attune::explain
