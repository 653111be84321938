#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attune/base/run.h"
#include "attune/text/byte_trie.h"

namespace attune {

/// A word and how often the texts have it.
using WordCount = std::pair<std::string, std::int64_t>;

struct UnigramTraining {
  std::int64_t vocab_size = 8000;  // tokens to end with, all characters among them
  double shrinking = 0.75;         // how many tokens stay when some are dropped
  int rounds = 2;                  // of expectation and maximisation between droppings
  std::int64_t longest = 16;       // characters of a token
  std::int64_t seeds = 1'000'000;  // tokens to begin with
};

/// A token and its log probability.
struct ScoredToken {
  std::string text;
  double score;
};

/// The tokens to begin with: all characters, and the strings of 2 to `longest` characters that come at least twice and
/// are not always part of a longer one to their right, those first whose count times length is highest. Scores are logs
/// of shares. From a suffix array of the words, as in Kudo's SentencePiece; counts are those of the texts.
std::vector<ScoredToken> unigram_seeds(const std::vector<WordCount>& words, const UnigramTraining& training);

/// Trains a unigram language model (Kudo 2018, section 3.2): expectation and maximisation (with the digamma of a sparse
/// prior, Liang & Klein 2007) of the tokens' probabilities over all ways to cut the words; then the tokens go whose
/// loss would cost the least likelihood; again, until `vocab_size` are left. Every character of the words stays. The
/// highest scores come first. The same words give the same bits. Throws Error where there are more characters than
/// `vocab_size`.
std::vector<ScoredToken> train_unigram(const std::vector<WordCount>& words, const UnigramTraining& training,
                                       const Run& run);

}  // namespace attune
