#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/data/example.h"
#include "attune/train/trainer.h"

namespace attune::bench {

/// One training that is timed: model, data and options, the same in Attune and its peers.
struct TrainingCase {
  std::string name;
  JsonValue config;  // config.json's object
  std::vector<Example> examples;
  TrainOptions options;
  double operations_per_token = 0;  // multiplications and additions of all matrix products, forward and backward
};

/// The clinical workflow's classifier on the labelled ones of the bundled documents: one epoch.
TrainingCase classifier_case();
/// GPT-2, 6 layers of 384, vocabulary 8,192, 16 x 256 random tokens a step: a few steps.
TrainingCase language_model_case();

/// For the peers, a JSON line each: first {"case", "config", "batch_tokens", "dropout" ...}, then the examples as
/// {"chunks": [[ids]], "labels": [class]}.
void write_case(const TrainingCase& one, const Path& path);

}  // namespace attune::bench
