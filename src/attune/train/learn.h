#pragma once

#include "attune/base/run.h"
#include "attune/train/run_config.h"
#include "attune/train/trainer.h"

namespace attune {

/// A whole training run from files to a model directory: reads the data, trains or opens the tokenizer, builds or opens
/// the model, trains, and leaves in `output`: config.toml (everything resolved), metrics.jsonl, tensorboard/,
/// checkpoints/, model/ (ready to use). Throws Error for data that does not fit the task, before anything is written;
/// see train() for resuming and stopping.
TrainingResult learn(const RunConfig& config, const Path& output, bool resume, const Run& run);

}  // namespace attune
