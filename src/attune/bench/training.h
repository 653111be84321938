#pragma once

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench train`: tokens a second (padding does not exist) and peak memory of two trainings, on one thread and
/// on num_threads(). The limits are the machine's rate of plain multiply-adds, and the weights with their gradients and
/// AdamW's two moments. The first step, which asks the system for memory, is not timed.
void training(const Report& report, const Run& run = {});

/// What it trains on, for the peers: a file a case, CASE.jsonl, in a new directory.
void write_training_cases(const Path& directory);

}  // namespace attune::bench
