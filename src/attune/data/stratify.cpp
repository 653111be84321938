#include "attune/data/stratify.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "attune/base/random.h"

namespace attune {

namespace {

constexpr std::array<Part, 3> dealt_parts = {Part::train, Part::validation, Part::test};

class Dealer {
 public:
  Dealer(const Strata& strata, const std::array<double, 3>& fractions)
      : strata_(strata), size_(static_cast<std::size_t>(strata.strata)) {
    std::vector<double> total(size_ + 1);  // the last: all documents
    for (const auto& component : strata.components)
      for (auto [stratum, documents] : component) {
        total[static_cast<std::size_t>(stratum)] += static_cast<double>(documents);
        total[size_] += static_cast<double>(documents);
      }
    for (std::size_t p = 0; p < 3; ++p) {
      have_[p].assign(size_ + 1, 0);
      want_[p] = total;
      for (double& want : want_[p]) want *= fractions[p];
      if (strata.evaluation_only >= 0) share_evaluation(p, fractions, total);
      open_[p] = fractions[p] > 0;
    }
  }

  Part deal(std::size_t component) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < 3; ++p) {
      double cost = open_[p] && may_have(p, component) ? rise(p, component) : std::numeric_limits<double>::infinity();
      if (cost < least) least = cost, best = p;
    }
    for (auto [stratum, documents] : strata_.components[component]) {
      have_[best][static_cast<std::size_t>(stratum)] += static_cast<double>(documents);
      have_[best][size_] += static_cast<double>(documents);
    }
    return dealt_parts[best];
  }

 private:
  void share_evaluation(std::size_t part, const std::array<double, 3>& fractions, const std::vector<double>& total) {
    auto stratum = static_cast<std::size_t>(strata_.evaluation_only);
    double evaluation = fractions[1] + fractions[2];
    want_[part][stratum] = part == 0 || evaluation == 0 ? 0 : total[stratum] * fractions[part] / evaluation;
  }

  bool may_have(std::size_t part, std::size_t component) const {
    const auto& counts = strata_.components[component];
    bool evaluation = counts.size() == 1 && counts[0].stratum == strata_.evaluation_only;
    return part != 0 || !evaluation || (!open_[1] && !open_[2]);
  }

  double rise(std::size_t part, std::size_t component) const {
    double sum = 0, all = 0;
    for (auto [stratum, documents] : strata_.components[component]) {
      auto more = static_cast<double>(documents);
      all += more;
      sum += part == 0 && stratum == strata_.evaluation_only ? more
                                                             : rise_of(part, static_cast<std::size_t>(stratum), more);
    }
    return sum + rise_of(part, size_, all);
  }

  /// (have + more - want)^2 / want - (have - want)^2 / want
  double rise_of(std::size_t part, std::size_t stratum, double more) const {
    double have = have_[part][stratum], want = want_[part][stratum];
    return more * (more + 2 * (have - want)) / want;
  }

  const Strata& strata_;
  std::size_t size_;
  std::array<std::vector<double>, 3> have_, want_;
  std::array<bool, 3> open_{};
};

}  // namespace

std::vector<Part> deal(const Strata& strata, const std::array<double, 3>& fractions, std::uint64_t seed) {
  std::size_t count = strata.components.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream random(RandomKey{seed}.at("split"));
  random.shuffle(order);
  std::vector<std::int64_t> sizes(count);
  for (std::size_t c = 0; c < count; ++c)
    for (auto [stratum, documents] : strata.components[c]) sizes[c] += documents;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  Dealer dealer(strata, fractions);
  std::vector<Part> parts(count);
  for (std::size_t c : order) parts[c] = dealer.deal(c);
  return parts;
}

}  // namespace attune
