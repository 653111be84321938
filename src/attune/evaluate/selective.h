#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune::evaluate {

/// Answering only where the model is sure: documents with confidence >= threshold are answered, the rest is left to
/// people.
struct RiskPoint {
  double threshold = 0;  // a confidence that occurs
  double coverage = 0;   // share of documents answered
  double risk = 0;       // share of those that are wrong
  std::int64_t answered = 0, wrong = 0;
};

/// Geifman & El-Yaniv 2017: one point for each confidence that occurs, from the surest down; documents of equal
/// confidence are answered together. right: [documents]; an answer for a document of no category is wrong. Throws Error
/// where lengths differ, a confidence is NaN, or there is no document.
std::vector<RiskPoint> risk_coverage(std::span<const double> confidence, const std::vector<bool>& right);

/// Area under the curve of risk over coverage (Geifman et al. 2019, "Bias-reduced uncertainty estimation", equation 5):
/// the mean, over k, of the risk of the k surest documents. Among equal confidences the mean over their orders.
double area_under_risk_coverage(std::span<const double> confidence, const std::vector<bool>& right);

/// How well the error of the automatic part is assured, strongest first.
enum class Assurance {
  simultaneous,  // bound holds for all coverages tried at once (Bonferroni), so choosing among them does not weaken it
  single,        // bound holds for one coverage fixed beforehand; choosing the largest makes it somewhat optimistic
  empirical,     // no bound: (wrong + 1) / (answered + 1) on the calibration documents is at most the target
  none           // not to be had: everything goes to review
};
std::string assurance_name(Assurance assurance);
Assurance assurance_named(const std::string& name);  // throws Error, listing the names

struct ThresholdOptions {
  double target_error = 0.02;
  double confidence = 0.95;                   // of the bounds
  Assurance at_least = Assurance::empirical;  // weaker ones are refused
};

/// Throws Error, in the words of the command line, for a target or confidence outside (0, 1).
void check_threshold_options(const ThresholdOptions& options);

struct ThresholdChoice {
  Assurance assurance = Assurance::none;
  std::optional<double> threshold = {};  // of confidence; empty: everything to review
  double coverage = 0, risk = 0;         // on the calibration documents
  std::int64_t documents = 0, answered = 0, wrong = 0;
  double upper_bound = 1;      // of the error: Clopper-Pearson at `confidence` (corrected where simultaneous)
  std::string statement = "";  // what may be claimed and what not, for people
};

/// The threshold with the largest coverage whose error is assured to be at most the target, by the strongest kind of
/// assurance that can be had from these documents:
///   simultaneous: Clopper-Pearson upper bounds at coverages of 5, 10, ..., 100 %, at confidence 1 - (1 - confidence) /
///   m for the m
///     of them that could pass at all without a wrong answer;
///   single: the bound without the correction, at any coverage;
///   empirical: no bound, for when the documents are too few for one.
/// The bounds take documents as independent and new documents as coming from where these did. Never throws for a target
/// that can not be had: it answers `none`. Throws Error as risk_coverage does, and for a target or confidence outside
/// (0, 1).
ThresholdChoice choose_threshold(std::span<const double> confidence, const std::vector<bool>& right,
                                 const ThresholdOptions& options = {});

}  // namespace attune::evaluate
