#pragma once

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/data/documents.h"
#include "attune/evaluate/calibration_contract.h"

namespace attune {

/// What a classifier is calibrated on.
struct CalibrationDocuments {
  const Documents& validation;          // documents that training has not seen; without a label: of no category
  std::string hash = {};                // SHA-256 of their file
  const Documents* training = nullptr;  // to fit the novelty score on; without, the bundle's own one is kept, if any
};

/// Why a calibration on these documents would make the model seem surer than it is on new ones: it was trained on their
/// file, or some of their texts are among the training documents. Empty where nothing speaks against them.
std::vector<std::string> calibration_warnings(const Bundle& bundle, const CalibrationDocuments& documents);

/// Calibrates a classifier in memory: scores the documents, fits the novelty model on the features of the training
/// documents that have a label, and sets contract.calibration (evaluate/calibration_contract.h) and bundle.novelty.
/// save_contract() then keeps it. Throws Error for a model that is no classifier and a label that it does not know.
void calibrate_bundle(Bundle& bundle, const CalibrationDocuments& documents,
                      const evaluate::CalibrationOptions& options, const Run& run);

}  // namespace attune
