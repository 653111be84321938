#pragma once

#include "attune/workflows/clinical_data.h"

namespace attune::workflows {

/// A trained classifier: run/model, calibrated.
struct ClinicalTraining {
  Path model;
  std::string fingerprint;  // of all that it depends on
};

/// Throws Error, in the words of the command line, for a setting of the trainings or of the calibration that is out of
/// range: before anything is read.
void check_training_options(const ClinicalOptions& options);

/// Pretrains on masked tokens (where the model's options say so), trains the classifier and calibrates it on the
/// validation part, novelty fitted on the training part. What an earlier run did with the same data and options is
/// kept.
ClinicalTraining train_clinical(const ClinicalOptions& options, const ClinicalData& data, const Steps& steps,
                                const Run& run);

/// Fills the curves and facts of training, and the policy for long documents.
void add_training(ClinicalReport& report, const ClinicalOptions& options, const Path& model);

}  // namespace attune::workflows
