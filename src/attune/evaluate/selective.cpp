#include "attune/evaluate/selective.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attune/base/error.h"
#include "attune/evaluate/binomial.h"

namespace attune::evaluate {

namespace {

const char* const assurance_names[] = {"simultaneous", "single", "empirical", "none"};

/// Documents from the surest down.
std::vector<std::size_t> by_confidence(std::span<const double> confidence, const std::vector<bool>& right) {
  check(confidence.size() == right.size(), "routing: {} confidences for {} answers", confidence.size(), right.size());
  check(!right.empty(), "routing: there is no document to measure on");
  for (std::size_t i = 0; i < confidence.size(); ++i)
    check(!std::isnan(confidence[i]), "routing: document {} has the confidence NaN", i);
  std::vector<std::size_t> order(right.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return confidence[a] > confidence[b]; });
  return order;
}

/// The last point that covers at most `documents`; null where even the surest group of equals is larger.
const RiskPoint* point_within(const std::vector<RiskPoint>& curve, std::int64_t documents) {
  const auto behind = std::upper_bound(curve.begin(), curve.end(), documents,
                                       [](std::int64_t n, const RiskPoint& p) { return n < p.answered; });
  return behind == curve.begin() ? nullptr : &*(behind - 1);
}

struct Found {
  const RiskPoint* point = nullptr;
  double bound = 1;
};

/// Largest of the fixed coverages whose bound, corrected for their number, is within the target.
Found simultaneous(const std::vector<RiskPoint>& curve, const ThresholdOptions& options) {
  std::vector<const RiskPoint*> grid;
  const std::int64_t documents = curve.back().answered;
  for (int step = 1; step <= 20; ++step) {
    const RiskPoint* point = point_within(curve, documents * step / 20);
    if (point && (grid.empty() || grid.back() != point)) grid.push_back(point);
  }
  // A coverage of so few documents that even none wrong would not pass costs nothing; which ones depends on their
  // number alone.
  auto level = [&](std::size_t tried) { return 1 - (1 - options.confidence) / static_cast<double>(tried); };
  std::size_t tried = grid.size();
  while (tried > 0 &&
         clopper_pearson_upper(0, grid[grid.size() - tried]->answered, level(tried)) > options.target_error)
    --tried;
  Found best;
  for (std::size_t i = grid.size() - tried; i < grid.size(); ++i) {
    const double bound = clopper_pearson_upper(grid[i]->wrong, grid[i]->answered, level(tried));
    if (bound <= options.target_error) best = {grid[i], bound};
  }
  return best;
}

Found single(const std::vector<RiskPoint>& curve, const ThresholdOptions& options) {
  for (auto point = curve.rbegin(); point != curve.rend(); ++point) {
    if (point->risk > options.target_error) continue;
    const double bound = clopper_pearson_upper(point->wrong, point->answered, options.confidence);
    if (bound <= options.target_error) return {&*point, bound};
  }
  return {};
}

Found empirical(const std::vector<RiskPoint>& curve, const ThresholdOptions& options) {
  for (auto point = curve.rbegin(); point != curve.rend(); ++point)
    if (static_cast<double>(point->wrong + 1) <= options.target_error * static_cast<double>(point->answered + 1))
      return {&*point, clopper_pearson_upper(point->wrong, point->answered, options.confidence)};
  return {};
}

std::string statement_of(const ThresholdChoice& choice, const ThresholdOptions& options) {
  const double target = 100 * options.target_error, level = 100 * options.confidence;
  const std::string seen = fmt::format("{} of {} calibration documents were answered automatically, {} of them wrongly",
                                       choice.answered, choice.documents, choice.wrong);
  switch (choice.assurance) {
    case Assurance::simultaneous:
      return fmt::format(
          "{}. With {:.0f} % confidence the error of the automatic part is at most {:.1f} % (target {:.1f} %); the "
          "bound allows "
          "for having chosen among several thresholds. It holds for documents like these, taken as independent.",
          seen, level, 100 * choice.upper_bound, target);
    case Assurance::single:
      return fmt::format(
          "{}. The {:.0f} % upper bound of the error at this threshold is {:.1f} % (target {:.1f} %); it does not "
          "allow for "
          "having chosen the threshold on the same documents, so take it as somewhat optimistic.",
          seen, level, 100 * choice.upper_bound, target);
    case Assurance::empirical:
      return fmt::format(
          "{}. That is within the target of {:.1f} %, but the documents are too few for a bound: at {:.0f} % "
          "confidence the "
          "error could be as high as {:.1f} %. There is no guarantee.",
          seen, target, level, 100 * choice.upper_bound);
    case Assurance::none:
      break;
  }
  return fmt::format(
      "No threshold keeps the error of the automatic part within {:.1f} % on the {} calibration documents: everything "
      "goes to "
      "review.",
      target, choice.documents);
}

}  // namespace

std::string assurance_name(Assurance assurance) { return assurance_names[static_cast<int>(assurance)]; }

Assurance assurance_named(const std::string& name) {
  for (int i = 0; i < 4; ++i)
    if (name == assurance_names[i]) return static_cast<Assurance>(i);
  fail("assurance \"{}\": expected one of simultaneous, single, empirical, none", name);
}

std::vector<RiskPoint> risk_coverage(std::span<const double> confidence, const std::vector<bool>& right) {
  const std::vector<std::size_t> order = by_confidence(confidence, right);
  std::vector<RiskPoint> curve;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    wrong += !right[order[i]];
    if (i + 1 < order.size() && confidence[order[i + 1]] == confidence[order[i]]) continue;
    const auto answered = static_cast<std::int64_t>(i) + 1;
    curve.push_back({.threshold = confidence[order[i]],
                     .coverage = static_cast<double>(answered) / static_cast<double>(order.size()),
                     .risk = static_cast<double>(wrong) / static_cast<double>(answered),
                     .answered = answered,
                     .wrong = wrong});
  }
  return curve;
}

double area_under_risk_coverage(std::span<const double> confidence, const std::vector<bool>& right) {
  double area = 0;
  std::int64_t answered = 0, wrong = 0;
  for (const RiskPoint& point : risk_coverage(confidence, right)) {
    const double share = static_cast<double>(point.wrong - wrong) / static_cast<double>(point.answered - answered);
    for (std::int64_t k = answered + 1; k <= point.answered; ++k)
      area += (static_cast<double>(wrong) + share * static_cast<double>(k - answered)) / static_cast<double>(k);
    answered = point.answered, wrong = point.wrong;
  }
  return area / static_cast<double>(answered);
}

void check_threshold_options(const ThresholdOptions& options) {
  check(options.target_error > 0 && options.target_error < 1,
        "--target-error is {}: give more than 0 and less than 1, as 0.05 for 5 % of the automatic answers",
        options.target_error);
  check(options.confidence > 0 && options.confidence < 1, "routing: the confidence {} is not between 0 and 1",
        options.confidence);
}

ThresholdChoice choose_threshold(std::span<const double> confidence, const std::vector<bool>& right,
                                 const ThresholdOptions& options) {
  check_threshold_options(options);
  const std::vector<RiskPoint> curve = risk_coverage(confidence, right);
  ThresholdChoice out{.documents = static_cast<std::int64_t>(right.size())};
  using Search = Found (*)(const std::vector<RiskPoint>&, const ThresholdOptions&);
  const std::pair<Assurance, Search> kinds[] = {
      {Assurance::simultaneous, simultaneous}, {Assurance::single, single}, {Assurance::empirical, empirical}};
  for (const auto& [assurance, search] : kinds) {
    if (assurance > options.at_least) break;
    const Found found = search(curve, options);
    if (!found.point) continue;
    out.assurance = assurance;
    out.threshold = found.point->threshold;
    out.coverage = found.point->coverage, out.risk = found.point->risk;
    out.answered = found.point->answered, out.wrong = found.point->wrong;
    out.upper_bound = found.bound;
    break;
  }
  out.statement = statement_of(out, options);
  return out;
}

}  // namespace attune::evaluate
