#include "attune/kernels/reference/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace attune::kernels {

void nearest(const Matrix<double>& queries, const Matrix<double>& keys, std::span<const std::int64_t> visible,
             std::int64_t count, std::int64_t* best) {
  for (std::int64_t i = 0; i < queries.rows; ++i) {
    std::vector<std::pair<double, std::int64_t>> all;  // (-score, key): sorted as wanted
    for (std::int64_t j = 0; j < std::min(visible[static_cast<std::size_t>(i)], keys.rows); ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < queries.columns; ++c) score += queries(i, c) * keys(j, c);
      all.emplace_back(std::isnan(score) ? std::numeric_limits<double>::infinity() : -score, j);
    }
    std::sort(all.begin(), all.end());
    for (std::int64_t n = 0; n < count; ++n)
      best[i * count + n] = n < static_cast<std::int64_t>(all.size()) ? all[static_cast<std::size_t>(n)].second : -1;
  }
}

}  // namespace attune::kernels
