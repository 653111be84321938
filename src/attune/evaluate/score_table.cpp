#include "attune/evaluate/score_table.h"

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune::evaluate {

void ScoreTable::add_row(std::span<const double> row) {
  if (values.empty()) width = static_cast<std::int64_t>(row.size());
  check(static_cast<std::int64_t>(row.size()) == width && width > 0,
        "evaluating: row {} has {} values, the rows before it have {}", rows(), row.size(), width);
  values.insert(values.end(), row.begin(), row.end());
}

void check_finite(const ScoreTable& table, const std::string& what) {
  check(table.width > 0 || table.values.empty(), "{}: rows of width {}", what, table.width);
  check(table.rows() * table.width == static_cast<std::int64_t>(table.values.size()),
        "{}: {} values do not fill rows of {}", what, table.values.size(), table.width);
  for (std::size_t i = 0; i < table.values.size(); ++i)
    check(std::isfinite(table.values[i]),
          "{}: document {} has a score that is not finite ({}): `attune verify MODEL` tells whether a weight is not",
          what, static_cast<std::int64_t>(i) / table.width, table.values[i]);
}

void check_truth(const ScoreTable& table, std::span<const int> truth, const std::string& what) {
  check(static_cast<std::int64_t>(truth.size()) == table.rows(), "{}: {} true classes for {} documents", what,
        truth.size(), table.rows());
  for (std::size_t i = 0; i < truth.size(); ++i)
    check(truth[i] >= 0 && truth[i] < table.width, "{}: document {} has the true class {}, expected 0 to {}", what, i,
          truth[i], table.width - 1);
}

ScoreTable softmax(const ScoreTable& logits, double temperature) {
  check(temperature > 0 && std::isfinite(temperature), "softmax: temperature {} is not positive", temperature);
  check_finite(logits, "softmax");
  ScoreTable out = logits;
  for (std::int64_t i = 0; i < logits.rows(); ++i) {
    const auto z = logits.row(i);
    const double highest = *std::max_element(z.begin(), z.end());
    double* p = out.values.data() + i * logits.width;
    double sum = 0;
    for (std::size_t c = 0; c < z.size(); ++c) sum += p[c] = std::exp((z[c] - highest) / temperature);
    for (std::size_t c = 0; c < z.size(); ++c) p[c] /= sum;
  }
  return out;
}

std::vector<int> top_class(const ScoreTable& scores) {
  std::vector<int> out;
  for (std::int64_t i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i);
    out.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return out;
}

std::vector<double> top_score(const ScoreTable& scores) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i);
    out.push_back(*std::max_element(row.begin(), row.end()));
  }
  return out;
}

}  // namespace attune::evaluate
