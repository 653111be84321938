#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attune/evaluate/bootstrap.h"

namespace attune::evaluate {

/// A metric whose figures are functions of sums over items (texts, questions, rankings): of counts and lengths, or of
/// what each item scores.
struct SummedMetric {
  std::vector<std::string> names = {};  // of its figures; the first is what the metric is known by
  std::size_t width = 0;                // sums
  std::vector<double> statistics = {};  // [items, width]
  /// From sums [width] to figures [names], finite whatever the sums. Called from several threads at once.
  std::function<void(std::span<const double> sums, std::span<double> figures)> figures = {};

  std::size_t items() const { return width ? statistics.size() / width : 0; }
  std::vector<double> on_all() const;                // [figures]
  std::vector<double> of_item(std::size_t i) const;  // [figures], as if there were no other item
};

/// What a system wrote, and what it should have: at least one reference, any of which is right.
struct TextAndReferences {
  std::string prediction;
  std::vector<std::string> references;
};

/// All figures with their intervals, from resampling items.
std::vector<Interval> summed_intervals(const SummedMetric& metric, const BootstrapOptions& options = {});

/// Throws Error unless there is an item and each has a reference.
void check_references(std::span<const TextAndReferences> items);

}  // namespace attune::evaluate
