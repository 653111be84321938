#include "attune/baseline/linear_model.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {
namespace {

// The mean of F1 over the labels that occur in truth or answer.
double macro_f1(const std::vector<int>& truth, const std::vector<int>& answer, int labels) {
  double sum = 0;
  int seen = 0;
  for (int label = 0; label < labels; ++label) {
    double right = 0, wrong = 0;  // wrong: missed or given in error
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] == label && answer[i] == label)
        ++right;
      else if (truth[i] == label || answer[i] == label)
        ++wrong;
    }
    if (right + wrong == 0) continue;
    sum += 2 * right / (2 * right + wrong);
    ++seen;
  }
  return seen ? sum / seen : 0;
}

}  // namespace

std::vector<int> largest_columns(const std::vector<double>& values, int columns) {
  std::vector<int> out;
  for (auto row = values.begin(); row != values.end(); row += columns)
    out.push_back(static_cast<int>(std::max_element(row, row + columns) - row));
  return out;
}

LinearModel LinearModel::fit(const LabelledTexts& training, const LabelledTexts& validation, int labels,
                             const LinearModelOptions& options, const Run& run) {
  check(training.texts.size() == training.targets.size() && validation.texts.size() == validation.targets.size(),
        "linear model: texts and targets differ in number");
  check(!options.cs.empty(), "linear model: no C to try");
  LinearModel out;
  out.vectorizer_ = TfidfVectorizer::fit(training.texts, options.tfidf);
  SparseRows rows = out.vectorizer_.transform(training.texts);
  std::vector<double> cs = options.cs;
  if (validation.texts.empty()) cs = {cs[cs.size() / 2]};
  std::vector<SoftmaxRegression> models =
      SoftmaxRegression::fit_path(rows, training.targets, labels, cs, options.solver, run);
  SparseRows held_out = out.vectorizer_.transform(validation.texts);
  double best = -1;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < models.size() && models.size() > 1; ++i) {
    double score = macro_f1(validation.targets, largest_columns(models[i].probabilities(held_out), labels), labels);
    if (score > best) best = score, chosen = i;
  }
  out.model_ = std::move(models[chosen]);
  out.c_ = cs[chosen];
  return out;
}

std::vector<double> LinearModel::probabilities(const std::vector<std::string_view>& texts) const {
  return model_.probabilities(vectorizer_.transform(texts));
}

}  // namespace attune
