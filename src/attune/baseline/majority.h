#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune {

/// The baseline that reads nothing: the labels' shares in the training part, for every document the same. Its answer is
/// the most frequent label, of equals the first.
class MajorityBaseline {
 public:
  /// targets: indices into the labels, 0 <= target < labels. Throws Error if there are none.
  MajorityBaseline(std::span<const int> targets, int labels);
  /// [documents, labels]
  std::vector<double> probabilities(std::int64_t documents) const;

 private:
  std::vector<double> shares_;  // [labels]
};

}  // namespace attune
