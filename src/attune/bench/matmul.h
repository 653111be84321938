#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench matmul`: GFLOP/s of f32 matmuls M x N x K on one thread and on num_threads(), each beside its limit:
/// the rate of plain multiply-adds or, where the weights must be read faster than that, the rate of reading as much
/// memory.
void matmul(const Report& report, const Run& run = {});
std::vector<std::string> matmul_names();  // of its cases

}  // namespace attune::bench
