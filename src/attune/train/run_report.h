#pragma once

#include <string>

#include "attune/train/run_config.h"
#include "attune/train/trainer.h"

namespace attune {

/// A run as one offline page: what was trained on what, the curves of loss, learning rate and speed, every evaluation,
/// the settings.
std::string run_report(const RunConfig& config, const Contract& contract, const TrainingResult& result);

}  // namespace attune
