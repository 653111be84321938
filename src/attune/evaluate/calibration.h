#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attune/evaluate/score_table.h"

namespace attune::evaluate {

inline constexpr int calibration_bins = 15;  // Guo et al. 2017, section 5

/// One bin of confidence, (low, high]; the first one holds 0, too.
struct ReliabilityBin {
  double low = 0, high = 0;
  double confidence = 0, accuracy = 0;  // means over its documents; 0 where it holds none
  std::int64_t documents = 0;
};

/// Equal-width bins over [0, 1] of the confidence in the answer given (top label) and whether it was right. `weight`,
/// where given, is how often each document counts. Throws Error where lengths differ or a confidence is outside [0, 1]
/// or NaN.
std::vector<ReliabilityBin> reliability(std::span<const double> confidence, const std::vector<bool>& right,
                                        int bins = calibration_bins, std::span<const std::int32_t> weight = {});

/// Mean over documents of |accuracy - confidence| of their bin (Guo et al. 2017, equation 3). 0 without documents.
double expected_calibration_error(const std::vector<ReliabilityBin>& bins);

struct CalibrationFigures {
  double ece = 0;
  double brier = 0;  // mean over documents of the squared distance to the one-hot truth (Brier 1950): 0 to 2
  double nll = 0;    // mean of -log p(truth); p is held above 2.2e-16, as scikit-learn's log_loss does
  std::vector<ReliabilityBin> bins;
};

/// probabilities: [documents, classes]; rows must sum to 1 within 1e-6. truth: [documents]. Throws Error for anything
/// else, values that are not finite and no document at all.
CalibrationFigures calibration_figures(const ScoreTable& probabilities, std::span<const int> truth,
                                       int bins = calibration_bins);

/// Temperature scaling (Guo et al. 2017, section 4.2): p = softmax(logits / temperature), answers unchanged.
struct TemperatureFit {
  double temperature = 1;            // to be used
  double fitted_temperature = 1;     // where the negative log-likelihood is lowest, within [0.05, 20]
  bool kept_identity = false;        // the fitted one was not used
  std::string reason;                // in words, for the report
  CalibrationFigures before, after;  // with temperature 1; with `temperature`
};

/// Whether a temperature below 1, which raises the confidence, may be used.
enum class Sharpening { refused, allowed };

/// Fits on validation logits [documents, classes]. In b = 1 / temperature the negative log-likelihood is convex, so
/// there is one lowest point; it is found by Newton steps kept inside a shrinking bracket. Then checks that it did not
/// make things worse: temperature 1 is kept, and `reason` says so, where the NLL or the ECE rose against it, and where
/// the fitted one is below 1, unless that is allowed. Such a one raises the confidence: right for documents like the
/// validation ones, wrong for stranger ones (docs/classify.md has figures).
/// Throws Error as above.
TemperatureFit fit_temperature(const ScoreTable& logits, std::span<const int> truth,
                               Sharpening sharpening = Sharpening::refused);

}  // namespace attune::evaluate
