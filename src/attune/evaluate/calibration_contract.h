#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/evaluate/calibration.h"
#include "attune/evaluate/novelty.h"
#include "attune/evaluate/selective.h"

namespace attune::evaluate {

/// What a calibrated classifier promises, kept in the model's contract (attune.json): how its logits become
/// probabilities, when it answers by itself, and on what evidence. The arrays of the novelty model are weights and are
/// kept beside it.
struct CalibrationContract {
  struct Figures {
    double nll = 0, ece = 0, brier = 0;
  };
  struct Novelty {
    NoveltyMethod method = NoveltyMethod::mahalanobis;
    int neighbours = 0;  // of NoveltyMethod::neighbours
    double threshold = 0;
    double share = 0.95;  // of known validation documents at or below the threshold
  };

  double temperature = 1, fitted_temperature = 1;
  bool kept_identity = false;
  std::string temperature_reason;
  Figures before, after;  // on the calibration documents that have a category

  double target_error = 0.02, bound_confidence = 0.95;
  ThresholdChoice route;
  std::optional<Novelty> novelty;
  /// Tokens of the shortest document with a category that it was calibrated on: nothing is known of shorter ones. 0: no
  /// bound.
  std::int64_t shortest = 0;

  std::int64_t documents = 0;      // that it was calibrated on
  std::int64_t uncategorised = 0;  // of those, without a category
  std::string data_hash;           // SHA-256 of the calibration data
};

Json to_json(const CalibrationContract& contract);
/// Reads what to_json wrote, strictly; `source` names it in errors.
CalibrationContract calibration_contract(const Json& json, const std::string& source);

/// Validation documents as the model saw them.
struct CalibrationData {
  ScoreTable logits = {};                 // [documents, classes]
  std::vector<int> truth = {};            // [documents]; -1 for a document of no category: any answer to it is wrong
  std::vector<double> novelty = {};       // [documents] or empty: NoveltyModel::scores
  std::vector<std::int64_t> tokens = {};  // [documents] or empty: what the model read of each
  std::string hash = "";
};

struct CalibrationOptions {
  ThresholdOptions threshold = {};
  Sharpening sharpening = Sharpening::refused;
  double known_share = 0.95;  // see novelty_threshold
  NoveltyMethod novelty_method = NoveltyMethod::mahalanobis;
  int neighbours = 0;
};

/// Fits the temperature on the documents with a category, sets the novelty threshold on them, and chooses the
/// confidence threshold among the documents that are not above it. The coverage in `route` is of all documents. Throws
/// Error where lengths differ, a truth is no class, or no document has a category.
CalibrationContract calibrate(const CalibrationData& data, const CalibrationOptions& options = {});

/// Why a document goes to a person.
enum class ReviewReason {
  low_confidence,  // below the threshold
  novel,           // unlike the training documents
  too_short,       // shorter than any document it was calibrated on
  no_threshold     // the target error could not be assured: all documents are reviewed
};
std::string review_reason_name(ReviewReason reason);  // "low_confidence", "novel", "short", ...

struct Route {
  struct Because {
    ReviewReason reason;
    std::string words;  // "confidence 0.61 is below 0.87"
  };
  std::vector<Because> reasons = {};
  bool automatic() const { return reasons.empty(); }
};

/// What a classifier saw of a document.
struct Seen {
  double confidence = 0;               // calibrated
  std::optional<double> novelty = {};  // needed where the contract has a novelty threshold (else an Error)
  std::int64_t tokens = 0;
};

/// NaN goes to review.
Route route(const CalibrationContract& contract, const Seen& seen);

}  // namespace attune::evaluate
