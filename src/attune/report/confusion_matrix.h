#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::report {

/// Counts of documents by true label (rows) and answer (columns); the shade is the share of the row. Right answers are
/// blue, wrong ones orange. Up to 16 labels have their counts written in; beyond that they are shown on hover.
struct ConfusionMatrix {
  std::string title;
  std::vector<std::string> labels;
  std::vector<std::vector<std::int64_t>> counts;  // [truth][answer], square
  double width = 640;

  /// Throws Error if the counts are not labels x labels.
  std::string svg() const;
};

}  // namespace attune::report
