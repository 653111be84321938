#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attune/base/run.h"

namespace attune {

/// When two texts count as copies of one another. A text is the set of its shingles: every run of `shingle_words`
/// words, where a word is letters, digits and marks without regard to case of A-Z, and each CJK character is a word; a
/// shorter text is one shingle. Texts with equal sets are exact duplicates (they differ at most in case, spaces,
/// punctuation and repetition); texts whose sets have a Jaccard index, |A and B| / |A or B|, of at least `threshold`
/// are near duplicates.
struct DuplicateRule {
  double threshold = 0.8;
  int shingle_words = 5;
};

struct DuplicatePair {
  std::int64_t a, b;  // a < b
  double jaccard;     // 1 for exact duplicates
};

/// Finds duplicates among many texts without comparing all pairs: MinHash signatures of 128 values (Broder 1997, "On
/// the resemblance and containment of documents") in 32 bands of 4 (Leskovec, Rajaraman & Ullman, "Mining of massive
/// datasets", 3.4): a pair of Jaccard 0.8 escapes with probability 5e-8, one of 0.6 with 0.01. Candidates are verified
/// by their true Jaccard index. The result is the same on every run and for any number of threads.
///
/// `wanted(a, b)` is asked before the comparison; `found` gets each pair at most once. Of a set of exact duplicates
/// only the first is compared with other texts, and each other one is paired with the first. Throws Cancelled where the
/// run is stopped.
void find_duplicates(std::span<const std::string_view> texts, const DuplicateRule& rule,
                     const std::function<bool(std::int64_t, std::int64_t)>& wanted,
                     const std::function<void(const DuplicatePair&)>& found, const Run& run = {});

/// The Jaccard index of two texts' shingles.
double jaccard_of(std::string_view a, std::string_view b, int shingle_words);

}  // namespace attune
