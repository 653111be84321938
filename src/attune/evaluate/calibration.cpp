#include "attune/evaluate/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

constexpr double least_probability = 2.220446049250313e-16;  // numpy's float64 epsilon

int bin_of(double confidence, int bins) {
  int bin = std::clamp(static_cast<int>(std::ceil(confidence * bins)) - 1, 0, bins - 1);
  // The edges are the doubles k / bins, whatever the product above was rounded to.
  while (bin > 0 && confidence <= static_cast<double>(bin) / bins) --bin;
  while (bin < bins - 1 && confidence > static_cast<double>(bin + 1) / bins) ++bin;
  return bin;
}

struct Slope {
  double first = 0, second = 0;  // derivatives of the mean NLL by b = 1 / temperature
};

/// With p = softmax(b z): d/db = E_p[z] - z_truth, d2/db2 = Var_p[z].
Slope slope_at(const ScoreTable& logits, std::span<const int> truth, double b) {
  Slope sum;
  for (std::int64_t i = 0; i < logits.rows(); ++i) {
    const auto z = logits.row(i);
    const double highest = *std::max_element(z.begin(), z.end());
    double total = 0, mean = 0, square = 0;
    for (const double value : z) {
      const double shifted = value - highest, p = std::exp(b * shifted);
      total += p, mean += p * shifted, square += p * shifted * shifted;
    }
    mean /= total;
    sum.first += mean - (z[static_cast<std::size_t>(truth[static_cast<std::size_t>(i)])] - highest);
    sum.second += square / total - mean * mean;
  }
  const double n = static_cast<double>(logits.rows());
  return {sum.first / n, sum.second / n};
}

constexpr double lowest_b = 1 / 20.0, highest_b = 1 / 0.05;

double best_inverse_temperature(const ScoreTable& logits, std::span<const int> truth) {
  double low = lowest_b, high = highest_b;
  if (slope_at(logits, truth, low).first >= 0) return low;
  if (slope_at(logits, truth, high).first <= 0) return high;
  double b = 1;
  for (int step = 0; step < 100; ++step) {
    const Slope slope = slope_at(logits, truth, b);
    (slope.first > 0 ? high : low) = b;
    double next = slope.second > 0 ? b - slope.first / slope.second : low;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const bool found = std::fabs(next - b) <= 1e-12 * b;
    b = next;
    if (found || slope.first == 0) break;
  }
  return b;
}

std::vector<bool> right_answers(const ScoreTable& scores, std::span<const int> truth) {
  const std::vector<int> answers = top_class(scores);
  std::vector<bool> right;
  for (std::size_t i = 0; i < answers.size(); ++i) right.push_back(answers[i] == truth[i]);
  return right;
}

}  // namespace

std::vector<ReliabilityBin> reliability(std::span<const double> confidence, const std::vector<bool>& right, int bins,
                                        std::span<const std::int32_t> weight) {
  check(confidence.size() == right.size(), "calibration: {} confidences for {} answers", confidence.size(),
        right.size());
  check(weight.empty() || weight.size() == right.size(), "calibration: {} weights for {} answers", weight.size(),
        right.size());
  check(bins > 0, "calibration: {} bins", bins);
  std::vector<ReliabilityBin> out(static_cast<std::size_t>(bins));
  for (int b = 0; b < bins; ++b) {
    out[static_cast<std::size_t>(b)].low = static_cast<double>(b) / bins;
    out[static_cast<std::size_t>(b)].high = static_cast<double>(b + 1) / bins;
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    // A softmax may round to just above 1.
    check(confidence[i] >= 0 && confidence[i] <= 1 + 1e-9, "calibration: document {} has the confidence {}", i,
          confidence[i]);
    ReliabilityBin& bin = out[static_cast<std::size_t>(bin_of(confidence[i], bins))];
    const std::int32_t times = weight.empty() ? 1 : weight[i];
    bin.documents += times;
    bin.confidence += times * confidence[i];
    bin.accuracy += right[i] ? times : 0;
  }
  for (ReliabilityBin& bin : out) {
    if (bin.documents == 0) continue;
    bin.confidence /= static_cast<double>(bin.documents);
    bin.accuracy /= static_cast<double>(bin.documents);
  }
  return out;
}

double expected_calibration_error(const std::vector<ReliabilityBin>& bins) {
  double sum = 0;
  std::int64_t documents = 0;
  for (const ReliabilityBin& bin : bins) {
    sum += static_cast<double>(bin.documents) * std::fabs(bin.accuracy - bin.confidence);
    documents += bin.documents;
  }
  return documents ? sum / static_cast<double>(documents) : 0;
}

CalibrationFigures calibration_figures(const ScoreTable& probabilities, std::span<const int> truth, int bins) {
  check_finite(probabilities, "calibration");
  check_truth(probabilities, truth, "calibration");
  check(!truth.empty(), "calibration: there is no document to measure on");
  CalibrationFigures out;
  for (std::int64_t i = 0; i < probabilities.rows(); ++i) {
    const auto p = probabilities.row(i);
    const auto right = static_cast<std::size_t>(truth[static_cast<std::size_t>(i)]);
    double sum = 0;
    for (std::size_t c = 0; c < p.size(); ++c) {
      const double off = p[c] - (c == right ? 1 : 0);
      out.brier += off * off;
      sum += p[c];
    }
    check(std::fabs(sum - 1) < 1e-6, "calibration: the probabilities of document {} sum to {}, expected 1", i, sum);
    out.nll -= std::log(std::max(p[right], least_probability));
  }
  out.brier /= static_cast<double>(truth.size());
  out.nll /= static_cast<double>(truth.size());
  out.bins = reliability(top_score(probabilities), right_answers(probabilities, truth), bins);
  out.ece = expected_calibration_error(out.bins);
  return out;
}

TemperatureFit fit_temperature(const ScoreTable& logits, std::span<const int> truth, Sharpening sharpening) {
  check_finite(logits, "fitting the temperature");
  check_truth(logits, truth, "fitting the temperature");
  check(!truth.empty(), "fitting the temperature: there is no validation document");
  TemperatureFit out;
  out.before = out.after = calibration_figures(softmax(logits), truth);
  out.kept_identity = true;
  if (logits.width == 1) {
    out.reason = "there is one class only, so there is nothing to calibrate";
    return out;
  }
  out.fitted_temperature = 1 / best_inverse_temperature(logits, truth);
  const CalibrationFigures fitted = calibration_figures(softmax(logits, out.fitted_temperature), truth);
  const bool nll_worse = fitted.nll > out.before.nll, ece_worse = fitted.ece > out.before.ece;
  if (nll_worse || ece_worse) {
    out.reason = fmt::format(
        "temperature {:.3f} would have changed the validation {} from {:.4f} to {:.4f}, so the scores are left as they "
        "are",
        out.fitted_temperature, ece_worse ? "ECE" : "NLL", ece_worse ? out.before.ece : out.before.nll,
        ece_worse ? fitted.ece : fitted.nll);
  } else if (out.fitted_temperature < 1 && sharpening == Sharpening::refused) {
    out.reason = fmt::format(
        "temperature {:.3f} would have made the model surer than it is by itself, which is wrong for documents "
        "stranger "
        "than these, so the scores are left as they are",
        out.fitted_temperature);
  } else {
    out.kept_identity = false;
    out.temperature = out.fitted_temperature;
    out.after = fitted;
    out.reason = fmt::format(
        "temperature {:.3f} lowers the validation NLL from {:.4f} to {:.4f} and the ECE from {:.4f} to {:.4f}",
        out.temperature, out.before.nll, out.after.nll, out.before.ece, out.after.ece);
  }
  return out;
}

}  // namespace attune::evaluate
