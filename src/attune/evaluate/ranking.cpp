#include "attune/evaluate/ranking.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

/// sum of grade / log2(rank + 1); grades in the order of the ranks, those below 0 count nothing.
double discounted(std::span<const std::int64_t> grades) {
  double sum = 0;
  for (std::size_t i = 0; i < grades.size(); ++i)
    if (grades[i] > 0) sum += static_cast<double>(grades[i]) / std::log2(static_cast<double>(i) + 2);
  return sum;
}

/// A ranking's grades, and the same of the best one there can be.
struct Grades {
  std::vector<std::int64_t> given, best;
  double relevant = 0;

  explicit Grades(const RankedQuery& query) {
    for (const std::string& document : ranked(query.scores)) {
      const auto found = query.grades.find(document);
      given.push_back(found == query.grades.end() ? 0 : found->second);
    }
    for (const auto& [document, grade] : query.grades) best.push_back(grade), relevant += grade > 0;
    std::sort(best.rbegin(), best.rend());
  }

  static std::span<const std::int64_t> first(const std::vector<std::int64_t>& grades, std::size_t k) {
    return std::span(grades).first(std::min(k, grades.size()));
  }
  double ndcg(std::size_t k) const {
    const double most = discounted(first(best, k));
    return most > 0 ? discounted(first(given, k)) / most : 0;
  }
  double found(std::size_t k) const {
    return static_cast<double>(std::ranges::count_if(first(given, k), [](std::int64_t grade) { return grade > 0; }));
  }
  double recall(std::size_t k) const { return relevant > 0 ? found(k) / relevant : 0; }
  double average_precision() const {
    double sum = 0, seen = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i] > 0) sum += ++seen / static_cast<double>(i + 1);
    return relevant > 0 ? sum / relevant : 0;
  }
  double reciprocal_rank() const {
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i] > 0) return 1 / static_cast<double>(i + 1);
    return 0;
  }
};

void check_scores(const RankedQuery& query, std::size_t number) {
  std::set<std::string_view> seen;
  for (const auto& [document, score] : query.scores) {
    check(seen.insert(document).second, "query {}: document \"{}\" is ranked twice", number + 1, document);
    check(std::isfinite(score), "query {}: document \"{}\" has the score {}", number + 1, document, score);
  }
}

}  // namespace

std::vector<std::string> ranked(const std::vector<std::pair<std::string, double>>& scores) {
  std::vector<std::pair<float, std::string>> order;
  for (const auto& [document, score] : scores) order.emplace_back(static_cast<float>(score), document);
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> documents;
  for (auto& [score, document] : order) documents.push_back(std::move(document));
  return documents;
}

SummedMetric ranking_scores(std::span<const RankedQuery> queries, const std::vector<std::int64_t>& cutoffs) {
  check(!queries.empty(), "there is no query to measure");
  SummedMetric metric;
  for (std::int64_t k : cutoffs) {
    check(k >= 1, "a cutoff of {}: give 1 or more", k);
    for (const char* name : {"ndcg", "recall", "precision"}) metric.names.push_back(fmt::format("{}@{}", name, k));
  }
  for (const char* name : {"ndcg", "map", "mrr"}) metric.names.emplace_back(name);
  metric.width = 1 + metric.names.size();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    check_scores(queries[q], q);
    const Grades grades(queries[q]);
    std::vector<double> sums = {1};
    for (std::int64_t cutoff : cutoffs) {
      const auto k = static_cast<std::size_t>(cutoff);
      for (double value : {grades.ndcg(k), grades.recall(k), grades.found(k) / static_cast<double>(cutoff)})
        sums.push_back(value);
    }
    const std::size_t all = std::max(grades.given.size(), grades.best.size());
    for (double value : {grades.ndcg(all), grades.average_precision(), grades.reciprocal_rank()}) sums.push_back(value);
    metric.statistics.insert(metric.statistics.end(), sums.begin(), sums.end());
  }
  metric.figures = [](std::span<const double> sums, std::span<double> out) {
    for (std::size_t f = 0; f < out.size(); ++f) out[f] = sums[1 + f] / sums[0];
  };
  return metric;
}

}  // namespace attune::evaluate
