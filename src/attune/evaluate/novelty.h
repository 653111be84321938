#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attune/evaluate/score_table.h"

namespace attune::evaluate {

/// How unlike the training documents a document is: higher is stranger. Fitted on the embeddings of training documents;
/// values are kept as f32, so that a stored model gives the same scores as the fitted one.
enum class NoveltyMethod {
  mahalanobis,  // Lee et al. 2018: smallest (x - mean_c)' S^-1 (x - mean_c) over the classes, S shared by them
  neighbours    // Sun et al. 2022: distance to the k-th nearest training embedding, all scaled to length 1
};
std::string novelty_method_name(NoveltyMethod method);
NoveltyMethod novelty_method_named(const std::string& name);  // throws Error, listing the names

struct NoveltyOptions {
  int neighbours = 10;
  std::int64_t most_neighbours_kept = 20000;  // beyond it every n-th training document is kept
  double shrinkage =
      0.05;  // S = (1 - shrinkage) covariance + shrinkage * mean variance * identity: S is never singular
};

class NoveltyModel {
 public:
  /// embeddings: [documents, width]; classes: [documents], any whole numbers from 0 (used by mahalanobis alone). Throws
  /// Error for values that are not finite, no document, or, for neighbours, k or fewer documents or a row of zeros.
  static NoveltyModel fit(NoveltyMethod method, const ScoreTable& embeddings, std::span<const int> classes,
                          const NoveltyOptions& options = {});

  /// embeddings: [documents, width] -> [documents]. A row of zeros has the distance 1 to every neighbour. Throws Error
  /// for another width or values that are not finite.
  std::vector<double> scores(const ScoreTable& embeddings) const;

  NoveltyMethod method() const { return method_; }
  std::int64_t width() const { return width_; }
  int neighbours() const { return neighbours_; }

  /// What is to be stored beside the method and the number of neighbours: mahalanobis "means" [classes, width] and
  /// "factor" [width, width], the lower Cholesky factor of S; neighbours "bank" [documents, width].
  struct Array {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  const std::vector<Array>& arrays() const { return arrays_; }
  /// The stored model again. Throws Error where an array is missing, misshapen, not finite, or the factor's diagonal
  /// not positive.
  static NoveltyModel restore(NoveltyMethod method, int neighbours, std::vector<Array> arrays);

 private:
  NoveltyMethod method_ = NoveltyMethod::mahalanobis;
  std::int64_t width_ = 0;
  int neighbours_ = 0;
  std::vector<Array> arrays_;
};

/// Liu et al. 2020: -temperature * log sum exp(logits / temperature), another score of novelty that needs no fitting.
std::vector<double> energy_scores(const ScoreTable& logits, double temperature = 1);

/// The score above which a document goes to review, from validation documents of the known kinds: the ceil((n + 1)
/// share)-th smallest score. Then a new document of their kind is above it with a probability of at most 1 - share
/// (split conformal: Vovk et al. 2005). The largest score where n is too small for that. Throws Error without a score,
/// for NaN or a share outside (0, 1).
double novelty_threshold(std::vector<double> scores, double share = 0.95);

/// How well scores tell novel documents from known ones.
struct Detection {
  double auroc = 0.5;       // probability that a novel one scores higher than a known one, ties half
  double detected = 0;      // share of novel documents above the threshold
  double false_alarms = 0;  // share of known documents above it
  std::int64_t known = 0, novel = 0;
};

/// Throws Error where either is empty or holds NaN.
Detection detection(std::span<const double> known, std::span<const double> novel, double threshold);

}  // namespace attune::evaluate
