#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench attention`: GFLOP/s of self-attention with 12 heads of 64 over one sequence, forward and forward with
/// backward, beside the machine's rate of plain multiply-adds, on one thread and on num_threads(). What is counted is
/// what must be multiplied: two products forward, five more backward (the scores are made again), half of each where a
/// causal mask hides half.
void attention(const Report& report, const Run& run = {});
std::vector<std::string> attention_names();  // of its cases

}  // namespace attune::bench
