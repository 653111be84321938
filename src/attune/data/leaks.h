#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/data/documents.h"
#include "attune/data/part.h"

namespace attune {

struct SplitOptions;

/// What two parts of a split share and should not.
struct Leak {
  std::string kind;  // "group patient", "held-out source", "exact duplicate", "near duplicate"
  std::string what;  // the value, or the ids of the two documents
  Part one, other;
};

struct LeakReport {
  std::int64_t groups = 0;                  // values of group fields in more than one part
  std::int64_t held_out_values = 0;         // values of held-out fields both in the unfamiliar part and in another
  std::int64_t exact_duplicates = 0;        // pairs over two parts
  std::int64_t near_duplicates = 0;         // pairs over two parts
  std::int64_t unlabelled_in_training = 0;  // documents of no category that training would see
  std::vector<Leak> examples;               // the first 20

  bool clean() const {
    return groups + held_out_values + exact_duplicates + near_duplicates + unlabelled_in_training == 0;
  }
  /// One line: what leaks, with an example.
  std::string text() const;
};

/// Looks for leaks in a finished split from the documents and their parts alone, without what the splitting knew;
/// dropped documents are nowhere. Pairs of duplicates are looked for over all documents. Throws Cancelled where the run
/// is stopped.
LeakReport check_leaks(std::span<const Document> documents, std::span<const Part> parts, const SplitOptions& options,
                       const DocumentFormat& format = {}, const Run& run = {});

}  // namespace attune
