#pragma once

#include <string>
#include <vector>

#include "attune/workflows/clinical_data.h"

namespace attune::workflows {

/// What one simpler system answers to the test documents.
struct BaselineAnswers {
  std::string name, description;
  std::vector<int> answers;        // [test documents], in ClinicalData::tests()' order
  std::vector<double> confidence;  // [test documents], or empty where it has none
};

/// The linear model, the rules (where there is a rules file) and the majority class, fitted on the training part. Kept
/// in output/baselines.json; for the bundled documents output/rules.toml is written first, to be edited and run again.
std::vector<BaselineAnswers> clinical_baselines(const ClinicalOptions& options, const ClinicalData& data,
                                                const Steps& steps, const Run& run);

/// The rules file in use, or none.
std::optional<Path> rules_file(const ClinicalOptions& options);

}  // namespace attune::workflows
