#include "attune/baseline/majority.h"

#include "attune/base/error.h"

namespace attune {

MajorityBaseline::MajorityBaseline(std::span<const int> targets, int labels)
    : shares_(static_cast<std::size_t>(labels)) {
  check(!targets.empty(), "majority baseline: there are no labelled documents to count");
  for (int target : targets) {
    check(target >= 0 && target < labels, "majority baseline: target {} is not below the {} labels", target, labels);
    shares_[static_cast<std::size_t>(target)] += 1;
  }
  for (double& share : shares_) share /= static_cast<double>(targets.size());
}

std::vector<double> MajorityBaseline::probabilities(std::int64_t documents) const {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(documents) * shares_.size());
  for (std::int64_t i = 0; i < documents; ++i) all.insert(all.end(), shares_.begin(), shares_.end());
  return all;
}

}  // namespace attune
