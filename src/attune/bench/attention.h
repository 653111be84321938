#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench attention`: GFLOP/s of the cases of attention_cases.h, forward and forward with backward, beside the
/// machine's rate of plain multiply-adds, on one thread and on num_threads(). Where a case says so also the memory that
/// one call adds to what the process holds with the inputs, beside the size of the results; of the longest case the
/// memory of the whole process.
void attention(const Report& report, const Run& run = {});
std::vector<std::string> attention_names();  // of its cases

}  // namespace attune::bench
