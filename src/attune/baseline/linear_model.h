#pragma once

#include <string_view>
#include <vector>

#include "attune/baseline/softmax_regression.h"
#include "attune/baseline/tfidf.h"

namespace attune {

/// Texts with their labels as indices.
struct LabelledTexts {
  std::vector<std::string_view> texts;
  std::vector<int> targets;  // [texts]
};

struct LinearModelOptions {
  TfidfOptions tfidf;
  std::vector<double> cs = {1, 10, 100};  // tried in this order; of equals the first wins
  SoftmaxRegressionOptions solver;
};

/// What an honest practitioner compares with: TF-IDF over words and pairs of words, then logistic regression, its C
/// chosen by macro-F1 on the validation part.
class LinearModel {
 public:
  /// Without validation texts the middle of `cs` is taken. Throws Error on fewer than two labels or no known words.
  static LinearModel fit(const LabelledTexts& training, const LabelledTexts& validation, int labels,
                         const LinearModelOptions& options = {}, const Run& run = {});

  /// [texts, labels]
  std::vector<double> probabilities(const std::vector<std::string_view>& texts) const;
  double c() const { return c_; }
  std::int64_t terms() const { return vectorizer_.terms(); }
  int iterations() const { return model_.iterations(); }

 private:
  TfidfVectorizer vectorizer_;
  SoftmaxRegression model_;
  double c_ = 1;
};

/// The column with the largest value of each row of [rows, columns]; of equals the first.
std::vector<int> largest_columns(const std::vector<double>& values, int columns);

}  // namespace attune
