#include "attune/evaluate/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/evaluate/calibration.h"

namespace attune::evaluate {

namespace {

void check_options(const Groups& groups, const BootstrapOptions& options) {
  check(!groups.of_document.empty(), "bootstrap: there is no document");
  check(options.resamples >= 100, "bootstrap: {} resamples, expected at least 100", options.resamples);
  check(options.level > 0 && options.level < 1, "bootstrap: level {} is not between 0 and 1", options.level);
  for (const std::int32_t group : groups.of_document)
    check(group >= 0 && group < groups.count, "bootstrap: group {} of {}", group, groups.count);
}

}  // namespace

std::vector<Interval> bootstrap(const Groups& groups, std::size_t figures, const WeightedFigures& compute,
                                const BootstrapOptions& options) {
  check_options(groups, options);
  const std::size_t documents = groups.of_document.size();
  std::vector<double> on_all(figures);
  compute(std::vector<std::int32_t>(documents, 1), on_all);
  for (const double value : on_all) check(std::isfinite(value), "bootstrap: the figure on all documents is {}", value);

  std::vector<double> values(static_cast<std::size_t>(options.resamples) * figures);
  const RandomKey key = RandomKey{.seed = options.seed}.at("bootstrap");
  parallel(options.resamples, 50, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> drawn(static_cast<std::size_t>(groups.count)), weight(documents);
    for (std::int64_t r = begin; r < end; ++r) {
      std::fill(drawn.begin(), drawn.end(), 0);
      RandomStream random(key.at(static_cast<std::uint64_t>(r)));
      for (std::int32_t g = 0; g < groups.count; ++g) ++drawn[static_cast<std::size_t>(random.below(groups.count))];
      for (std::size_t i = 0; i < documents; ++i) weight[i] = drawn[static_cast<std::size_t>(groups.of_document[i])];
      compute(weight, std::span(values).subspan(static_cast<std::size_t>(r) * figures, figures));
    }
  });

  std::vector<Interval> out;
  for (std::size_t f = 0; f < figures; ++f) {
    std::vector<double> sorted;
    for (std::size_t at = f; at < values.size(); at += figures) {
      check(std::isfinite(values[at]), "bootstrap: the figure of resample {} is {}", at / figures, values[at]);
      sorted.push_back(values[at]);
    }
    std::sort(sorted.begin(), sorted.end());
    const double tail = (1 - options.level) / 2;
    out.push_back({on_all[f], quantile(sorted, tail), quantile(sorted, 1 - tail)});
  }
  return out;
}

namespace {

void check_answers(const Answers& a, const Groups& groups) {
  check(a.truth.size() == groups.of_document.size(), "bootstrap: {} documents, but groups of {}", a.truth.size(),
        groups.of_document.size());
  classification(a.truth, a.answers, a.classes);  // its checks
}

struct Two {
  double macro_f1, accuracy;
};

Two weighted_figures(const Answers& a, std::span<const std::int32_t> weight) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(a.classes * a.classes));
  std::int64_t right = 0, all = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    counts[static_cast<std::size_t>(a.truth[i] * a.classes + a.answers[i])] += weight[i];
    right += a.truth[i] == a.answers[i] ? weight[i] : 0;
    all += weight[i];
  }
  return {macro_f1(counts, a.classes), static_cast<double>(right) / static_cast<double>(all)};
}

}  // namespace

Groups Groups::by_name(std::span<const std::string> names) {
  Groups out;
  std::unordered_map<std::string, std::int32_t> known;
  for (const std::string& name : names)
    out.of_document.push_back(known.try_emplace(name, static_cast<std::int32_t>(known.size())).first->second);
  out.count = static_cast<std::int32_t>(known.size());
  return out;
}

Groups Groups::each_alone(std::int64_t documents) {
  Groups out{.count = static_cast<std::int32_t>(documents)};
  for (std::int32_t i = 0; i < out.count; ++i) out.of_document.push_back(i);
  return out;
}

Interval bootstrap(const Groups& groups, const WeightedFigure& figure, const BootstrapOptions& options) {
  return bootstrap(
      groups, 1, [&](std::span<const std::int32_t> weight, std::span<double> out) { out[0] = figure(weight); },
      options)[0];
}

Interval macro_f1_interval(const Answers& answers, const Groups& groups, const BootstrapOptions& options) {
  check_answers(answers, groups);
  return bootstrap(
      groups, [&](std::span<const std::int32_t> weight) { return weighted_figures(answers, weight).macro_f1; },
      options);
}

Interval accuracy_interval(const Answers& answers, const Groups& groups, const BootstrapOptions& options) {
  check_answers(answers, groups);
  return bootstrap(
      groups, [&](std::span<const std::int32_t> weight) { return weighted_figures(answers, weight).accuracy; },
      options);
}

Interval ece_interval(std::span<const double> confidence, const std::vector<bool>& right, const Groups& groups,
                      const BootstrapOptions& options) {
  check(confidence.size() == right.size() && confidence.size() == groups.of_document.size(),
        "bootstrap: {} confidences, {} answers, groups of {} documents", confidence.size(), right.size(),
        groups.of_document.size());
  return bootstrap(
      groups,
      [&](std::span<const std::int32_t> weight) {
        return expected_calibration_error(reliability(confidence, right, calibration_bins, weight));
      },
      options);
}

Difference difference(const Answers& first, const Answers& second, const Groups& groups,
                      const BootstrapOptions& options) {
  check_answers(first, groups);
  check_answers(second, groups);
  check(first.classes == second.classes && std::equal(first.truth.begin(), first.truth.end(), second.truth.begin()),
        "bootstrap: the two systems were not measured on the same documents");
  const auto both = bootstrap(
      groups, 2,
      [&](std::span<const std::int32_t> weight, std::span<double> out) {
        const Two a = weighted_figures(first, weight), b = weighted_figures(second, weight);
        out[0] = a.macro_f1 - b.macro_f1;
        out[1] = a.accuracy - b.accuracy;
      },
      options);
  return {both[0], both[1]};
}

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace attune::evaluate
