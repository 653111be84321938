#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attune/base/run.h"
#include "attune/text/string_table.h"

namespace attune {

/// The inner loop of training: words as lists of tokens with their counts, and the most frequent pair joined again and
/// again.
class PairMerger {
 public:
  struct Word {
    std::vector<std::int32_t> symbols;
    std::int64_t count;
  };

  /// `tokens` holds the first tokens (special ones, alphabet) and gets the new ones. A token that begins with `prefix`
  /// loses it when it is joined to another's end.
  PairMerger(StringTable& tokens, std::vector<Word> words, std::string prefix)
      : tokens_(tokens), words_(std::move(words)), prefix_(std::move(prefix)) {}

  /// Until there are `size` tokens or no pair is as frequent as `min_frequency`. The merges in order, as pairs of
  /// tokens.
  std::vector<std::pair<std::int32_t, std::int32_t>> merge(std::int64_t size, std::int64_t min_frequency,
                                                           const Run& run);

 private:
  struct Candidate {
    std::int64_t count;
    std::uint64_t pair;
    std::vector<std::uint32_t> words;  // where the pair stands, in order
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void offer_new_pairs();
  void join(std::uint32_t word, std::uint64_t pair, std::int32_t joined);
  void count_pair(std::int32_t first, std::int32_t second, std::int64_t change, std::uint32_t word);

  StringTable& tokens_;
  std::vector<Word> words_;
  std::string prefix_;
  FlatMap<std::int64_t> counts_;  // of pairs
  FlatMap<std::uint32_t> fresh_;  // pairs that came up in this step: index in new_pairs_
  std::vector<std::pair<std::uint64_t, std::vector<std::uint32_t>>> new_pairs_;
  std::vector<Candidate> queue_;  // a heap
};

}  // namespace attune
