#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attune/evaluate/classification.h"

namespace attune::evaluate {

/// Which group (patient) each document belongs to, as numbers from 0.
struct Groups {
  std::vector<std::int32_t> of_document = {};  // [documents]
  std::int32_t count = 0;

  static Groups by_name(std::span<const std::string> names);  // equal names, one group
  static Groups each_alone(std::int64_t documents);           // where nothing is known to belong together
};

struct BootstrapOptions {
  int resamples = 2000;
  double level = 0.95;
  std::uint64_t seed = 0;
};

struct Interval {
  double value = 0;          // on all documents
  double low = 0, high = 0;  // percentile interval; both `value` where there is one group only
};

/// A figure of documents that count `weight[i]` times each (0: not in the resample). Called from several threads at
/// once.
using WeightedFigure = std::function<double(std::span<const std::int32_t> weight)>;

/// Percentile interval (Efron & Tibshirani 1993, chapter 13) from resampling whole groups with replacement, because
/// documents of one patient are not independent. The same seed gives the same bits on any number of threads. Throws
/// Error where there is no document, fewer than 100 resamples, a level outside (0, 1), or the figure is not finite.
Interval bootstrap(const Groups& groups, const WeightedFigure& figure, const BootstrapOptions& options = {});

/// Several such figures, written to `figures`, all from the same resamples.
using WeightedFigures = std::function<void(std::span<const std::int32_t> weight, std::span<double> figures)>;
std::vector<Interval> bootstrap(const Groups& groups, std::size_t figures, const WeightedFigures& compute,
                                const BootstrapOptions& options = {});

/// What two figures and their intervals need.
struct Answers {
  std::span<const int> truth;    // [documents], classes from 0
  std::span<const int> answers;  // [documents]
  int classes = 0;
};

/// Averaged over the classes present in each resample, as scikit-learn would on its documents.
Interval macro_f1_interval(const Answers& answers, const Groups& groups, const BootstrapOptions& options = {});
Interval accuracy_interval(const Answers& answers, const Groups& groups, const BootstrapOptions& options = {});
/// Top-label ECE (evaluate/calibration.h) of confidences [documents] and whether each answer was right.
Interval ece_interval(std::span<const double> confidence, const std::vector<bool>& right, const Groups& groups,
                      const BootstrapOptions& options = {});

/// `first` minus `second` on the same documents, both in each resample.
struct Difference {
  Interval macro_f1, accuracy;
  /// True where the whole interval of the macro-F1 difference lies above 0, below 0.
  bool first_is_better() const { return macro_f1.low > 0; }
  bool second_is_better() const { return macro_f1.high < 0; }
};

/// Throws Error if the two have other truths or numbers of classes.
Difference difference(const Answers& first, const Answers& second, const Groups& groups,
                      const BootstrapOptions& options = {});

/// Linear interpolation between order statistics, as numpy.quantile does by default. `sorted` is not empty, share in
/// [0, 1].
double quantile(std::span<const double> sorted, double share);

}  // namespace attune::evaluate
