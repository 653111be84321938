#include "attune/evaluate/summed_metric.h"

#include "attune/base/error.h"

namespace attune::evaluate {

std::vector<double> SummedMetric::on_all() const {
  std::vector<double> sums(width), out(names.size());
  for (std::size_t i = 0; i < statistics.size(); ++i) sums[i % width] += statistics[i];
  figures(sums, out);
  return out;
}

std::vector<double> SummedMetric::of_item(std::size_t i) const {
  std::vector<double> out(names.size());
  figures(std::span(statistics).subspan(i * width, width), out);
  return out;
}

std::vector<Interval> summed_intervals(const SummedMetric& metric, const BootstrapOptions& options) {
  return bootstrap(
      Groups::each_alone(static_cast<std::int64_t>(metric.items())), metric.names.size(),
      [&](std::span<const std::int32_t> weight, std::span<double> out) {
        std::vector<double> sums(metric.width);
        for (std::size_t i = 0; i < weight.size(); ++i) {
          if (weight[i] == 0) continue;
          for (std::size_t s = 0; s < metric.width; ++s) sums[s] += weight[i] * metric.statistics[i * metric.width + s];
        }
        metric.figures(sums, out);
      },
      options);
}

void check_references(std::span<const TextAndReferences> items) {
  check(!items.empty(), "there is no text to measure");
  for (std::size_t i = 0; i < items.size(); ++i)
    check(!items[i].references.empty(), "text {} has no reference to be compared with", i + 1);
}

}  // namespace attune::evaluate
