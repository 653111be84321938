#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/data/documents.h"
#include "attune/evaluate/score_table.h"
#include "attune/models/objective.h"
#include "attune/tasks/text_encoder.h"

namespace attune {

/// Throws Error, with what it is, unless the model is a classifier.
void check_classifier(const Bundle& bundle);
/// load_bundle and check_classifier: what a command does before it reads any data.
Bundle load_classifier(const Path& directory);

/// What a classifier says of examples before any decision.
struct ClassScores {
  evaluate::ScoreTable logits;    // [examples, classes]
  evaluate::ScoreTable features;  // [examples, width]: what the output layer reads; novelty is measured on it
};

/// Examples of one label or none each, in ragged batches of about `batch_tokens`; the batching changes no bit of the
/// result.
ClassScores score_examples(const Model& model, std::span<const Example> examples, const Run& run,
                           std::int64_t batch_tokens = 8192);

/// One document's answer, and whether a person should look at it.
struct Classified {
  std::string label;
  double confidence = 0;                // calibrated, of `label`
  std::vector<double> probabilities;    // [classes], calibrated
  std::optional<double> novelty;        // higher is stranger; none where the model was not calibrated
  bool automatic = true;                // false: to review, for these reasons
  std::vector<std::string> reasons;     // "low_confidence", "novel", ...
  std::vector<std::string> explained;   // the same in words with numbers
  std::int64_t tokens = 0, chunks = 0;  // that the model read
};

/// Classifies texts under the model's contract; `policy` replaces its way with long texts. Everything that
/// an uncalibrated model says goes to review ("not_calibrated"). Throws Error where the model is no classifier or a
/// text is refused.
std::vector<Classified> classify(const Bundle& bundle, std::span<const std::string_view> texts, const Run& run,
                                 std::optional<LongPolicy::Kind> policy = {});

/// Texts as the model read them, and what it says of them.
struct ScoredTexts {
  ClassScores scores;
  std::vector<EncodedText> read;
};
ScoredTexts score_texts(const Bundle& bundle, std::span<const std::string_view> texts, const Run& run,
                        std::optional<LongPolicy::Kind> policy = {});

/// The class number of each document's label; -1 for a document of no category. Throws Error naming the line where a
/// label is none of the model's.
std::vector<int> class_numbers(const std::vector<std::string>& labels, const Documents& documents);

/// The texts of documents; they must outlive the result.
std::vector<std::string_view> texts_of(const Documents& documents);

/// The model's encoder of texts under its contract.
TextEncoder text_encoder(const Bundle& bundle, std::optional<LongPolicy::Kind> policy = {});

/// Decides from scores: temperature, novelty and thresholds of the bundle's contract. `read` says how much of each text
/// was read.
std::vector<Classified> decide(const Bundle& bundle, const ClassScores& scores, std::span<const EncodedText> read);

}  // namespace attune
