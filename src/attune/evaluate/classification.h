#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune::evaluate {

/// Which classes an average goes over. `present`: those that occur in the truth or in the answers, scikit-learn's
/// default. `all`: every class of the model; one that occurs nowhere counts 0 in the macro average.
enum class Classes { present, all };

struct ClassFigures {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t support = 0;  // documents of the class
};

struct Averages {
  double precision = 0, recall = 0, f1 = 0;
};

/// Equal to scikit-learn's accuracy_score, precision_recall_fscore_support (zero_division=0) and confusion_matrix.
struct Classification {
  std::int64_t documents = 0;
  double accuracy = 0;
  Averages macro = {}, micro = {}, weighted = {};
  std::vector<ClassFigures> per_class = {};               // [classes]
  std::vector<std::vector<std::int64_t>> confusion = {};  // [truth][answer]
};

/// Figures from counts[truth][answer]: square, no negative count, at least one document; else an Error.
Classification classification(const std::vector<std::vector<std::int64_t>>& counts, Classes over = Classes::present);

/// truth, answers: [documents], classes from 0. Throws Error if their lengths differ, there is none, or one is no
/// class.
Classification classification(std::span<const int> truth, std::span<const int> answers, int classes,
                              Classes over = Classes::present);

/// Macro-F1 alone from counts[truth * classes + answer], as fast as it can be had: for resampling.
double macro_f1(std::span<const std::int64_t> counts, int classes, Classes over = Classes::present);

}  // namespace attune::evaluate
