#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attune/base/run.h"
#include "attune/baseline/tfidf.h"

namespace attune {

struct SoftmaxRegressionOptions {
  double c = 1;             // scikit-learn's C: the smaller, the more the weights are held down
  double tolerance = 1e-5;  // ends where the gradient's length is below this share of its length at zero weights
  int max_iterations = 300;
};

/// Multinomial logistic regression: p(class | x) = softmax(W' x + b), at the minimum over W and b of
///   mean_i -log p(target_i | x_i)  +  |W|^2 / (2 c n)
/// which is scikit-learn's LogisticRegression(C=c) divided by c n; the bias is not held down.
///
/// Solved by L-BFGS (Nocedal & Wright 2006, algorithm 7.5). Every iterate, gradient and difference has W in the span of
/// the rows of X, W = X' A, so each is kept as A and its scores Z = X W, both [n, classes], instead of W [features,
/// classes], which is larger for text: the inner product of two is sum(A1 * Z2). The search along a line then needs no
/// pass over X at all. Sums are in an order that does not depend on the number of threads.
class SoftmaxRegression {
 public:
  /// x: [n, features]. targets: [n], below `classes`; each class need not occur. Throws Error on an empty or misshapen
  /// input, Cancelled if the run is stopped.
  static SoftmaxRegression fit(const SparseRows& x, std::span<const int> targets, int classes,
                               const SoftmaxRegressionOptions& options = {}, const Run& run = {});
  /// One model for each c, in order, each search beginning where the last ended.
  static std::vector<SoftmaxRegression> fit_path(const SparseRows& x, std::span<const int> targets, int classes,
                                                 std::span<const double> cs,
                                                 const SoftmaxRegressionOptions& options = {}, const Run& run = {});

  /// [rows, classes]
  std::vector<double> probabilities(const SparseRows& x) const;
  int classes() const { return static_cast<int>(bias_.size()); }
  int iterations() const { return iterations_; }

 private:
  std::int64_t features_ = 0;
  std::vector<float> weights_;  // [features, classes]
  std::vector<double> bias_;    // [classes]
  int iterations_ = 0;
};

}  // namespace attune
