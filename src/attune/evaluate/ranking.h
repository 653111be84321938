#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

/// What a search gave for one query, and what it should have given.
struct RankedQuery {
  std::vector<std::pair<std::string, double>> scores;  // of documents, in any order, each once
  std::map<std::string, std::int64_t> grades;          // above 0: relevant, and how much
};

/// Documents as trec_eval ranks them: by score as f32, of equal scores the greater name first.
std::vector<std::string> ranked(const std::vector<std::pair<std::string, double>>& scores);

/// Means over the queries, 0 to 1, with the numbers of trec_eval (pytrec_eval): for each cutoff k "ndcg@k" (Järvelin &
/// Kekäläinen 2002: gain is the grade, discount log2(rank + 1)), "recall@k", "precision@k"; then "ndcg", "map" (mean of
/// the precision at each relevant document) and "mrr" (1 / rank of the first). A query without a relevant document
/// counts 0. Throws Error without queries, where a document has two scores or a score is not a number, and on a cutoff
/// below 1.
SummedMetric ranking_scores(std::span<const RankedQuery> queries, const std::vector<std::int64_t>& cutoffs);

}  // namespace attune::evaluate
