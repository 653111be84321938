#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/evaluate/summed_metric.h"

namespace attune::evaluate {

/// An answer, and those that are right: none where the question has no answer in the text.
struct AnswerAndTruth {
  std::string answer;  // empty: "there is none"
  std::vector<std::string> truth;
  std::optional<double> no_answer_probability = {};
};

/// Lower case, without ASCII punctuation, "a", "an", "the" and superfluous spaces: how SQuAD compares answers.
std::string plain_answer(std::string_view answer);

/// Exact match and F1 of words, 0 to 100, the best over the right answers, means over all questions, with the numbers
/// of SQuAD's evaluation for version 1.1 (Rajpurkar et al. 2016): figures "exact", "f1". Throws Error where a question
/// has no right answer.
SummedMetric squad_scores(std::span<const AnswerAndTruth> questions);

/// The same for version 2.0 (Rajpurkar et al. 2018), where a question may have no answer: figures "exact", "f1", then
/// "answerable exact", "answerable f1", "answerable questions", "unanswerable exact", "unanswerable questions" (there
/// F1 is exact match). An answer whose no_answer_probability is above `threshold` counts as "there is none".
SummedMetric squad2_scores(std::span<const AnswerAndTruth> questions, double threshold = 1);

/// The threshold for which the mean is highest on these questions, and that mean: an optimistic figure, since it was
/// chosen on them.
struct BestThreshold {
  double exact = 0, exact_threshold = 0, f1 = 0, f1_threshold = 0;
};
/// Throws Error unless every question has its no_answer_probability.
BestThreshold best_no_answer_threshold(std::span<const AnswerAndTruth> questions);

}  // namespace attune::evaluate
