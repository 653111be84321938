#pragma once

#include <string>

#include "attune/base/file.h"

namespace attune::workflows {

/// What attention families cost and what they lose, side by side.
struct FamilySummary {
  std::string table;  // Markdown: a row a family, those of masked tokens last
  std::string plot;   // SVG: perplexity by length of those that are causal; empty where none was probed
};

/// `costs`: the lines of `attune bench attention --families all --fit --json`. `results`: a directory with
/// FAMILY.jsonl, the lines of `attune probe perplexity`, `needle` and `copy` with --json; the shortest length of its
/// perplexities is the one that the models were trained at. Needles and copies are
/// those up to that length: just before the question (depth 1), and further back. A family without a file has its costs
/// alone. Throws Error that names the file and line where one is not of these.
FamilySummary summarise_families(const Path& costs, const Path& results);

}  // namespace attune::workflows
